package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// historySeeds are worlds of every kind, one of them crowded.
var historySeeds = []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}

// TestOneSeedIsOneHistory: what is drawn depends on the seed and nothing else,
// so a failure can be seen again.
func TestOneSeedIsOneHistory(t *testing.T) {
	seen, crowded := map[string]int64{}, 0
	for _, seed := range historySeeds {
		first, second := newWorld(seed, drawSetting(seed), nil), newWorld(seed, drawSetting(seed), nil)
		require.Nil(t, first.run(), "seed %d", seed)
		require.Nil(t, second.run(), "seed %d", seed)
		history := string(first.history.Sum(nil))
		require.Equal(t, history, string(second.history.Sum(nil)), "seed %d", seed)
		require.Zero(t, seen[history], "seeds %d and %d have one history", seed, seen[history])
		seen[history] = seed
		if first.setting.crowded() {
			crowded++
		}
	}
	require.NotZero(t, crowded)
}

// TestTheWallClockDecidesNothing: with and without the jumps of wall clocks, a
// seed has the same history to the last event and its time. The jumps came
// into the logs.
func TestTheWallClockDecidesNothing(t *testing.T) {
	jumped := 0
	for _, seed := range historySeeds {
		s := drawSetting(seed)
		var jumps []int
		for _, p := range drawPlan(seed, s) {
			if p.strike != nil && p.strike.fault.name == "wall clock jump" {
				jumps = append(jumps, p.number)
			}
		}
		with, still := newWorld(seed, s, nil), newWorld(seed, s, jumps)
		require.Nil(t, with.run(), "seed %d", seed)
		require.Nil(t, still.run(), "seed %d", seed)
		require.Equal(t, with.history.Sum(nil), still.history.Sum(nil), "seed %d", seed)
		require.Zero(t, still.count["wall clock jump"], "seed %d", seed)
		jumped += with.count["wall clock jump"]
	}
	require.NotZero(t, jumped)
}
