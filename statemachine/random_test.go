package statemachine

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	randomTime = flag.Duration("random.time", 4*time.Second, "how long the random test goes on")
	randomSeed = flag.Int64("random.seed", 0, "the one seed to run; 0: many, from the clock")
)

// TestRandomAgainstModel applies random batches to the machine and to the
// model: after each the events and the states are equal and all invariants
// hold.
func TestRandomAgainstModel(t *testing.T) {
	if *randomSeed != 0 {
		runAgainstModel(t, *randomSeed)
		return
	}
	first := time.Now().UnixNano()
	t.Logf("first seed %d", first)
	runs := int64(0)
	for end := time.Now().Add(*randomTime); time.Now().Before(end); runs++ {
		runAgainstModel(t, first+runs)
	}
	t.Logf("%d seeds", runs)
}

func runAgainstModel(t *testing.T, seed int64) {
	c := newChaos(seed)
	m := New(testGenesis)
	plain := &model{meta: Meta{Version: 1}}
	for _, node := range testGenesis.Members {
		plain.presences = append(plain.presences, Presence{Node: node})
	}
	image := make(map[string]string)
	index := Index(0)
	for range 300 {
		index += Index(1 + c.rng.Intn(2))
		b := c.next(m)
		events := m.Apply(index, b)
		replay := "go test -run TestRandomAgainstModel -random.seed"
		require.Equal(t, eventText(plain.apply(index, b)), eventText(events), "%s %d: events at index %d", replay, seed, index)
		require.Equal(t, plain.events, events, "%s %d: events at index %d", replay, seed, index)
		require.Equal(t, plain.dump(), dump(t, m), "%s %d: state at index %d", replay, seed, index)
		require.NoError(t, m.Check(), "%s %d: index %d", replay, seed, index)
		if c.rng.Intn(4) == 0 {
			keepImage(image, m.TakeChanges())
			require.Equal(t, imageOf(m), image, "%s %d: image at index %d", replay, seed, index)
		}
	}
}
