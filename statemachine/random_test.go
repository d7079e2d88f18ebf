package statemachine

import (
	"flag"
	"testing"
	"time"

	"github.com/palisade-go/palisade/token"
	"github.com/stretchr/testify/require"
)

var (
	randomTime = flag.Duration("random.time", 4*time.Second, "how long the random test goes on")
	randomSeed = flag.Int64("random.seed", 0, "the one seed to run; 0: many, from the clock")
)

// TestRandomAgainstModel applies random batches to the machine and to the
// model: after each the events and the states are equal and all invariants
// hold. In the end every kind of event must have happened.
func TestRandomAgainstModel(t *testing.T) {
	seen := make(tally)
	if *randomSeed != 0 {
		runAgainstModel(t, *randomSeed, seen)
		return
	}
	first := time.Now().UnixNano()
	t.Logf("first seed %d", first)
	runs := int64(0)
	for end := time.Now().Add(*randomTime); time.Now().Before(end) || runs < 32; runs++ {
		runAgainstModel(t, first+runs, seen)
	}
	t.Logf("%d seeds: %v", runs, seen)
	for _, kind := range []string{
		"applied", "granted", "handed over", "queued",
		"rejected superseded", "rejected left", "rejected other directory",
		"refused busy", "refused queue full", "refused invalid", "refused version", "refused exhausted",
		"ended released", "ended cancelled waiting", "ended expired", "ended expired waiting",
		"ended limit", "ended swept", "ended swept waiting",
	} {
		require.NotZero(t, seen[kind], "no event of the kind %q in %d seeds from %d", kind, runs, first)
	}
}

func runAgainstModel(t *testing.T, seed int64, seen tally) {
	const replay = "go test ./statemachine -run TestRandomAgainstModel -random.seed"
	c := newChaos(seed)
	m := New(testGenesis)
	plain := newModel()
	if seed%8 == 1 { // the counter comes to its end on the way
		m.meta.Counter = token.CounterMax - 10
		plain.meta.Counter = m.meta.Counter
	}
	image := make(map[string]string)
	index := Index(0)
	for range 300 {
		index += Index(1 + c.rng.Intn(2))
		b := c.next(m)
		events := m.Apply(index, b)
		seen.add(events)
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

// tally counts events by kind.
type tally map[string]int

func (s tally) add(events []Event) {
	ended := 0
	for _, e := range events {
		switch e := e.(type) {
		case Applied:
			s["applied"]++
		case Rejected:
			s["rejected "+e.Reason.String()]++
		case Granted:
			s["granted"]++
			if ended > 0 {
				s["handed over"]++
			}
		case Queued:
			s["queued"]++
		case Refused:
			s["refused "+e.Reason.String()]++
		case Ended:
			ended++
			s["ended "+e.Reason.String()+tail(" waiting", e.Waiting)]++
		}
	}
	if ended == SliceMax {
		s["slice"]++
	}
}
