package raftnode

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAWaitEndsOnABeatAndNeverLater(t *testing.T) {
	at := func(d time.Duration) time.Time { return firstBeat.Add(d) }
	const ms = time.Millisecond
	for _, c := range []struct{ now, wait, want time.Duration }{
		{0, time.Second, time.Second},
		{1 * ms, time.Second, 999 * ms},
		{999 * ms, time.Second, 1 * ms},
		{300 * ms, 2700 * ms, 2700 * ms},
		{300 * ms, 2699 * ms, 1700 * ms},
		{0, 937 * ms, 750 * ms},
		{749 * ms, 250 * ms, 1 * ms},
		{751 * ms, 250 * ms, 249 * ms},
		{751 * ms, 249 * ms, 249 * ms},
		{751 * ms, 0, 0},
	} {
		require.Equal(t, c.want, onBeat(at(c.now), c.wait), "%v from %v", c.wait, c.now)
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for range 10_000 {
		now, wait := time.Duration(random.Int64N(int64(time.Hour))), time.Duration(random.Int64N(int64(5*time.Second)))
		got := onBeat(at(now), wait)
		require.LessOrEqual(t, got, wait, "seed %d", seed)
		require.Zero(t, wait > 0 && got <= 0, "seed %d: a loop that waits for %v at %v would spin", seed, wait, now)
	}
}

// TestLooksOfManyGroupsComeTogether counts the moments at which anybody wakes up.
func TestLooksOfManyGroupsComeTogether(t *testing.T) {
	const groups, seconds = 64, 10
	random := rand.New(rand.NewPCG(1, 2))
	moments := map[time.Duration]bool{}
	for range groups {
		now := time.Duration(random.Int64N(int64(time.Second))) // of its first look
		for now < seconds*time.Second {
			now += onBeat(firstBeat.Add(now), time.Second)
			moments[now] = true
		}
	}
	require.Len(t, moments, seconds)
}
