package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

const (
	self     statemachine.NodeID = 1
	other    statemachine.NodeID = 2
	election                     = time.Second
)

// trial is a candidate under a load.
type trial struct {
	*Candidate
	t       *testing.T
	now     clock.Instant
	leader  statemachine.NodeID
	settled bool
	fit     bool
}

func newTrial(t *testing.T) *trial {
	return &trial{Candidate: New(self, election), t: t, now: clock.Instant(time.Hour), leader: other, settled: true, fit: true}
}

func served(node statemachine.NodeID) []statemachine.Event {
	return []statemachine.Event{statemachine.Granted{Lease: statemachine.LeaseID{Node: node}}}
}

// load lets the group serve requests, mine of this node and others of another one,
// in each of some windows, as long as nothing has to be done.
func (r *trial) load(windows, mine, others int) Step {
	r.t.Helper()
	for range windows {
		for n := range mine + others {
			node := self
			if n >= mine {
				node = other
			}
			r.Entry(served(node), r.now)
			r.now = r.now.Add(election / time.Duration(mine+others))
			if step := r.look(); step != Nothing {
				return step
			}
		}
	}
	return Nothing
}

func (r *trial) look() Step {
	r.t.Helper()
	step := r.Look(r.now, r.leader, r.settled, func() bool { return r.fit })
	if next, ok := r.Next(r.now); ok {
		require.Greater(r.t, next, r.now, "the shell would look for ever")
	}
	return step
}

// wait goes to the next look that is wanted.
func (r *trial) wait() Step {
	r.t.Helper()
	next, ok := r.Next(r.now)
	require.True(r.t, ok)
	r.now = next
	return r.look()
}

func TestWhoIsServedMostAsksToLead(t *testing.T) {
	for name, c := range map[string]struct {
		mine, others int
		want         Step
	}{
		"Alone":                 {Least, 0, Hold},
		"WithThreeQuarters":     {75, 25, Hold},
		"WithLessThanThat":      {74, 26, Nothing},
		"WithTooFewToCount":     {Least - 2, 0, Nothing},
		"WhileAnotherHasAsMany": {50, 50, Nothing},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, newTrial(t).load(20, c.mine, c.others))
		})
	}
	t.Run("OnlyAfterThreeWindows", func(t *testing.T) {
		r := newTrial(t)
		for range 10 {
			require.Equal(t, Nothing, r.load(Windows-1, 100, 0))
			require.Equal(t, Nothing, r.load(1, 0, 100))
		}
		require.Equal(t, Hold, r.load(Windows+1, 100, 0))
	})
	t.Run("NotForWhatWasLongAgo", func(t *testing.T) {
		r := newTrial(t)
		r.notBefore = r.now.Add(time.Hour) // it has tried
		require.Equal(t, Nothing, r.load(20, 100, 0))
		r.now = r.now.Add(2 * time.Hour)
		for range Windows { // what comes by itself is not held back
			r.Entry(served(self), r.now)
			require.Equal(t, Nothing, r.look())
			r.now = r.now.Add(election)
		}
	})
	t.Run("NotForSomeBursts", func(t *testing.T) {
		r := newTrial(t)
		for range 10 {
			require.Equal(t, Nothing, r.load(1, 100, 0))
			r.now = r.now.Add(time.Hour)
		}
	})
	t.Run("RefusalsAreServedToo", func(t *testing.T) {
		r := newTrial(t)
		step := Nothing
		for step == Nothing {
			require.Less(t, r.now, clock.Instant(2*time.Hour))
			r.Entry([]statemachine.Event{statemachine.Refused{Node: self}}, r.now)
			r.now = r.now.Add(election / Least / 2)
			step = r.look()
		}
		require.Equal(t, Hold, step)
	})
	t.Run("NotWhereItLeads", func(t *testing.T) {
		r := newTrial(t)
		r.leader = self
		require.Equal(t, Nothing, r.load(20, 100, 0))
	})
	t.Run("NotWhileItIsUnfit", func(t *testing.T) {
		r := newTrial(t)
		r.fit = false
		require.Equal(t, Nothing, r.load(20, 100, 0))
	})
	t.Run("NotWithoutALeader", func(t *testing.T) {
		r := newTrial(t)
		r.leader = 0
		require.Equal(t, Nothing, r.load(20, 100, 0))
	})
}

func TestItAsksWhenTheGroupIsQuiet(t *testing.T) {
	t.Run("AFiftiethAfterTheLastEntry", func(t *testing.T) {
		r := newTrial(t)
		r.settled = false
		require.Equal(t, Hold, r.load(20, 100, 0))
		began := r.now
		r.now = r.now.Add(election / 100)
		r.Entry(served(self), r.now)
		r.settled = true
		require.Equal(t, Nothing, r.look())
		require.Equal(t, Ask, r.wait())
		require.Equal(t, began.Add(election/100+election/50), r.now)
		r.leader = self
		require.Equal(t, Resume, r.look())
		require.Equal(t, Nothing, r.load(100, 100, 0))
	})
	t.Run("NeverWhileSomethingIsInFlight", func(t *testing.T) {
		r := newTrial(t)
		r.settled = false
		require.Equal(t, Hold, r.load(20, 100, 0))
		began := r.now
		for step := Nothing; step != Resume; step = r.wait() {
			require.Equal(t, Nothing, step)
		}
		require.Equal(t, began.Add(election/10), r.now)
	})
	t.Run("NeverWhileOthersAreServed", func(t *testing.T) {
		r := newTrial(t)
		require.Equal(t, Hold, r.load(20, 100, 0))
		for {
			r.now = r.now.Add(election / 60)
			r.Entry(served(other), r.now)
			if step := r.look(); step != Nothing {
				require.Equal(t, Resume, step)
				return
			}
		}
	})
}

func TestATryThatFailsIsFollowedByALongerRest(t *testing.T) {
	r := newTrial(t)
	for _, rest := range []time.Duration{30, 60, 120, 240, 480, 960, 1920, 1920} {
		require.Equal(t, Hold, r.load(3000, 100, 0))
		require.Equal(t, Ask, r.wait())
		require.Equal(t, Resume, r.wait(), "no leader has shown")
		began := r.now
		require.Equal(t, Hold, r.load(3000, 100, 0))
		require.InDelta(t, rest*election, r.now.Sub(began), float64(election))
		// As if it had not tried, for the next row.
		r.phase, r.notBefore = counting, 0
	}
}

func TestATryThatSucceedsIsFollowedByARest(t *testing.T) {
	r := newTrial(t)
	r.pause = PauseMax * election // after many that failed
	require.Equal(t, Hold, r.load(20, 100, 0))
	require.Equal(t, Ask, r.wait())
	r.leader = self
	require.Equal(t, Resume, r.look())
	began := r.now
	r.leader = other // and it is taken away again
	require.Equal(t, Hold, r.load(100, 100, 0))
	require.InDelta(t, 30*election, r.now.Sub(began), float64(election))
}

// An election that takes longer than the try is followed by a rest as well:
// otherwise a group whose elections are slow would have one all the time.
func TestAnElectionInBetweenIsWaitedForToTheEnd(t *testing.T) {
	try := func(t *testing.T, r *trial) {
		t.Helper()
		require.Equal(t, Hold, r.load(3000, 100, 0))
		require.Equal(t, Ask, r.wait())
		r.leader = 0
		require.Equal(t, Nothing, r.look())
		require.Equal(t, Resume, r.wait())
	}
	// rest returns how long it is until the next try.
	rest := func(t *testing.T, r *trial) time.Duration {
		t.Helper()
		began := r.now
		r.leader = other
		require.Equal(t, Hold, r.load(3000, 100, 0))
		return r.now.Sub(began)
	}
	t.Run("AnotherHasWonIt", func(t *testing.T) {
		r := newTrial(t)
		try(t, r)
		require.InDelta(t, 30*election, rest(t, r), float64(election))
		require.Equal(t, Ask, r.wait())
		require.Equal(t, Resume, r.wait())
		require.InDelta(t, 60*election, rest(t, r), float64(election))
	})
	t.Run("ThisNodeHasWonIt", func(t *testing.T) {
		r := newTrial(t)
		r.pause = PauseMax * election // after many that failed
		try(t, r)
		r.leader = self
		require.Equal(t, Nothing, r.load(10, 100, 0))
		require.InDelta(t, 20*election, rest(t, r), float64(election), "it counts from when it led")
	})
}

func TestATryThatIsGivenUpIsFollowedByARest(t *testing.T) {
	r := newTrial(t)
	require.Equal(t, Hold, r.load(20, 100, 0))
	r.fit = false
	require.Equal(t, Resume, r.look())
	began := r.now
	r.fit = true
	require.Equal(t, Hold, r.load(3000, 100, 0))
	require.InDelta(t, 30*election, r.now.Sub(began), float64(election))
}
