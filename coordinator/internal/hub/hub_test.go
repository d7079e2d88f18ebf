package hub

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/internal/usagetest"
	"github.com/palisade-go/palisade/statemachine"
)

// of returns the effects of one kind.
func of[E Effect](effects []Effect) []E {
	var found []E
	for _, e := range effects {
		if e, ok := e.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func at(d time.Duration) clock.Instant { return clock.Instant(d) }

func identity() batcher.Identity {
	return batcher.Identity{Node: self, Directory: statemachine.DirectoryID{1}, Incarnation: 1}
}

// pair is a hub whose batches come to the log at once.
type pair struct {
	t       *testing.T
	hub     *Hub
	machine *statemachine.Machine
	index   statemachine.Index
	said    []Effect
}

func newPair(t *testing.T) *pair {
	p := &pair{t: t, hub: New(testConfig(identity()))}
	p.machine = statemachine.New(statemachine.Genesis{Group: 1, Members: []statemachine.NodeID{1, 2, 3}})
	p.settle(0)
	return p
}

// flush returns what the hub has said since, and what it sends now.
func (p *pair) flush(now clock.Instant) []Effect {
	p.hub.Flush(now)
	return p.hub.Effects()
}

// settle delivers what the hub sends until it has nothing more to send.
func (p *pair) settle(now clock.Instant) {
	for {
		effects := p.flush(now)
		p.said = append(p.said, effects...)
		sends := of[Send](effects)
		if len(sends) == 0 {
			return
		}
		for _, s := range sends {
			p.deliver(s, now)
		}
	}
}

func (p *pair) deliver(s Send, now clock.Instant) {
	batch, err := statemachine.DecodeBatch(s.Data)
	require.NoError(p.t, err)
	p.index++
	p.hub.Applied(p.index, p.machine.Apply(p.index, batch), now)
}

func ask(key string, ttl time.Duration) Ask {
	return Ask{Claims: claims([]string{key}), Wait: true, TTL: ttl}
}

// TestG3LossNeedsNoMessage: the first question after the window's end, whatever
// it is about, says that the lease is lost, before anything else is said.
func TestG3LossNeedsNoMessage(t *testing.T) {
	questions := map[string]func(*Hub, clock.Instant){
		"Flush":         func(h *Hub, now clock.Instant) { h.Flush(now) },
		"Acquire":       func(h *Hub, now clock.Instant) { h.Acquire(9, ask("l", time.Minute), now) },
		"Cancel":        func(h *Hub, now clock.Instant) { h.Cancel(8, now) },
		"Mark":          func(h *Hub, now clock.Instant) { h.Mark(7, now) },
		"LeaderChanged": func(h *Hub, now clock.Instant) { h.LeaderChanged(now) },
		"AttemptFailed": func(h *Hub, now clock.Instant) { h.AttemptFailed(1, 1, now) },
		"Applied": func(h *Hub, now clock.Instant) {
			h.Applied(99, []statemachine.Event{statemachine.Applied{Node: 2, Incarnation: 1, Number: 5}}, now)
		},
		"Installed": func(h *Hub, now clock.Instant) {
			h.Installed(State{Index: 99, Presence: statemachine.Presence{
				Node: self, Directory: identity().Directory, Incarnation: 1, Last: 2,
			}}, now)
		},
	}
	for name, question := range questions {
		t.Run("AskedBy"+name, func(t *testing.T) {
			p := newPair(t)
			p.hub.Acquire(1, ask("k", 4*time.Second), 0)
			p.settle(0)
			require.Len(t, of[Granted](p.said), 1)

			require.Empty(t, of[Lost](p.flush(at(3600*time.Millisecond-1))))
			question(p.hub, at(3600*time.Millisecond))
			effects := p.hub.Effects()
			require.Equal(t, Lost{1, LostWindow}, effects[0])
		})
	}
}

// TestG9Once: whatever of its batches arrives, how often and in which order, an
// acquire is granted once, and its Release ends that one lease.
func TestG9Once(t *testing.T) {
	p := newPair(t)
	p.hub.Acquire(1, ask("k", time.Minute), 0)
	sends := of[Send](p.flush(0))
	require.Len(t, sends, 1)
	for range 3 {
		p.deliver(sends[0], 0)
	}
	p.said = append(p.said, p.hub.Effects()...)
	require.Len(t, of[Granted](p.said), 1)

	p.hub.Release(1, 0)
	release := of[Send](p.flush(0))
	require.Len(t, release, 1)
	p.deliver(release[0], 0)
	p.hub.Acquire(2, ask("k", time.Minute), 0)
	p.settle(0)
	// The old acquire and the old release come once more.
	p.deliver(sends[0], 0)
	p.deliver(release[0], 0)
	p.settle(0)
	require.Len(t, of[Granted](p.said), 2)
	require.Len(t, of[Over](p.said), 1)
	require.Equal(t, 1, p.machine.Stats().Leases)
	require.Equal(t, 1, p.hub.Len())
}

// TestG10NothingLeftBehind: a caller who leaves in whichever moment leaves
// nothing, in the hub and in the group, and is told so once.
func TestG10NothingLeftBehind(t *testing.T) {
	holder := statemachine.Batch{Node: 2, Directory: statemachine.DirectoryID{2}, Incarnation: 1, Number: 1, Speaks: statemachine.Binary,
		Commands: []statemachine.Command{statemachine.Acquire{Seq: 1, Claims: claims([]string{"k"}), TTL: time.Minute}}}
	free := holder
	free.Number, free.Commands = 2, []statemachine.Command{statemachine.Release{Seq: 1}}
	apply := func(p *pair, b statemachine.Batch) {
		p.index++
		p.hub.Applied(p.index, p.machine.Apply(p.index, b), 0)
	}
	moments := map[string]func(p *pair){
		"BeforeItIsSent": func(p *pair) {
			for ref := range Ref(batcher.FlightsMax) {
				p.hub.Mark(100+ref, 0)
			}
			p.hub.Acquire(1, ask("k", time.Minute), 0)
		},
		"BeforeItArrives": func(p *pair) { p.hub.Acquire(1, ask("k", time.Minute), 0) },
		"WhenGranted": func(p *pair) {
			p.hub.Acquire(1, ask("k", time.Minute), 0)
			p.settle(0)
		},
		"InLine": func(p *pair) {
			apply(p, holder)
			p.hub.Acquire(1, ask("k", time.Minute), 0)
			p.settle(0)
		},
		"WhenItsTurnComes": func(p *pair) {
			apply(p, holder)
			p.hub.Acquire(1, ask("k", time.Minute), 0)
			p.settle(0)
			apply(p, free)
		},
		"WhenItWasRefused": func(p *pair) {
			apply(p, holder)
			try := ask("k", time.Minute)
			try.Wait = false
			p.hub.Acquire(1, try, 0)
			p.settle(0)
		},
	}
	for name, moment := range moments {
		t.Run("LeavingIt"+name, func(t *testing.T) {
			p := newPair(t)
			moment(p)
			p.hub.Cancel(1, 0)
			p.settle(0)
			apply(p, free)
			p.settle(0)
			require.Equal(t, []Over{{1}}, of[Over](p.said))
			require.Zero(t, p.hub.Len())
			require.Empty(t, p.hub.batcher.Flights())
			require.Zero(t, p.hub.keeper.Pace())
			require.Zero(t, p.machine.Stats())
			_, wake := p.hub.Next(0)
			require.False(t, wake, "nothing to look after")
		})
	}
}

func TestNextIsAfterWhatWasLookedAt(t *testing.T) {
	p := newPair(t)
	now := clock.Instant(0)
	p.hub.Acquire(1, Ask{Claims: claims([]string{"k"}), Wait: true, TTL: time.Minute, Limit: 4 * time.Second}, now)
	p.settle(now)
	p.hub.Acquire(2, ask("l", time.Minute), now)
	for range 10_000 { // far beyond every window
		next, ok := p.hub.Next(now)
		if !ok {
			break
		}
		require.Greater(t, next, now, "the shell would tick for ever")
		now = next
		p.flush(now)
	}
	require.Greater(t, now, at(time.Minute))
}

func TestRenewalsGoOutInTime(t *testing.T) {
	p := newPair(t)
	now := clock.Instant(0)
	p.hub.Acquire(1, ask("k", 8*time.Second), now)
	p.settle(now)
	last := now
	for range 1000 {
		next, ok := p.hub.Next(now)
		require.True(t, ok)
		require.LessOrEqual(t, next.Sub(now), 500*time.Millisecond, "a sixteenth of the TTL")
		now = next
		effects := p.flush(now)
		for _, s := range of[Send](effects) {
			require.Equal(t, 2*time.Second, now.Sub(last), "a quarter of the TTL")
			last = now
			p.deliver(s, now)
		}
		require.Empty(t, of[Lost](effects))
	}
}

func TestLeaveGivesBackAsManyAsOneBatchTakes(t *testing.T) {
	const requests = batcher.CommandsMax + 500
	p := newPair(t)
	for ref := range Ref(requests) {
		p.hub.Acquire(ref+1, ask("k"+time.Duration(ref).String(), time.Minute), 0)
	}
	p.settle(0)
	require.Equal(t, requests, p.machine.Stats().Leases)
	p.hub.Leave(0)
	effects := p.flush(0)
	sends := of[Send](effects)
	require.Len(t, sends, 1)
	p.deliver(sends[0], 0)
	require.Len(t, of[Left](p.hub.Effects()), 1)
	require.Equal(t, requests-(batcher.CommandsMax-1), p.machine.Leftovers(self), "the rest is left to the sweep")
	require.Zero(t, p.hub.Len())
}

func TestMemoryOfManyRequestsIsGivenBack(t *testing.T) {
	const requests = 100_000
	h := New(testConfig(identity()))
	h.Flush(0)
	before := usagetest.Heap()
	for ref := range Ref(requests) {
		h.Acquire(ref+1, ask("k", time.Minute), 0)
		h.Flush(0)
	}
	require.Equal(t, requests, h.Len())
	for ref := range Ref(requests) {
		h.Cancel(requests-ref, 0)
	}
	h.Effects()
	require.Less(t, h.Len(), batcher.FlightsMax+1)
	for len(h.batcher.Flights()) > 0 {
		f := h.batcher.Flights()[0]
		h.Applied(statemachine.Index(f.Number), []statemachine.Event{
			statemachine.Applied{Node: self, Incarnation: 1, Number: f.Number},
		}, 0)
		h.Flush(0)
	}
	require.Zero(t, h.Len())
	h.Effects()
	require.Less(t, usagetest.Heap()-before, int64(1<<20))
	runtime.KeepAlive(h)
}

func TestARequestThatCantBeEncodedIsFatal(t *testing.T) {
	p := newPair(t)
	p.hub.Acquire(1, ask(string(make([]byte, statemachine.KeyBytesMax+1)), time.Minute), 0)
	fatal := of[Fatal](p.flush(0))
	require.Len(t, fatal, 1)
	require.ErrorContains(t, fatal[0].Err, "encoding a batch")
	p.hub.Acquire(2, ask("k", time.Minute), 0)
	p.hub.LeaderChanged(0)
	require.Empty(t, p.flush(0), "it sends nothing any longer")
}

func TestJitterSpreadsAndRepeats(t *testing.T) {
	h, again := New(testConfig(identity())), New(testConfig(identity()))
	seen := map[time.Duration]bool{}
	for attempt := range 100 {
		f := batcher.Flight{Number: 7, Attempt: attempt}
		d := h.jitter(&f, time.Second)
		require.Less(t, d, time.Second)
		require.GreaterOrEqual(t, d, time.Duration(0))
		require.Equal(t, d, again.jitter(&f, time.Second))
		seen[d] = true
	}
	require.Greater(t, len(seen), 90)
	require.Zero(t, h.jitter(&batcher.Flight{}, 0))
}

// A log in which the later incarnation's own batch was applied before tells the
// same twice. Here it is told by the rejection alone.
func TestARejectionAloneEndsTheNode(t *testing.T) {
	rejected := func(reason statemachine.RejectReason, change func(*statemachine.Rejected)) []Fatal {
		h := New(testConfig(identity()))
		h.Flush(0)
		id := identity()
		e := statemachine.Rejected{
			Node: id.Node, Directory: id.Directory, Incarnation: id.Incarnation, Number: 1, Reason: reason,
			Known: statemachine.Presence{Node: id.Node, Directory: statemachine.DirectoryID{7}, Incarnation: 2},
		}
		change(&e)
		h.Applied(1, []statemachine.Event{e}, 0)
		return of[Fatal](h.Effects())
	}
	same := func(*statemachine.Rejected) {}
	ends := rejected(statemachine.RejectedSuperseded, same)
	require.Len(t, ends, 1)
	require.ErrorIs(t, ends[0].Err, ErrSuperseded)
	ends = rejected(statemachine.RejectedDirectory, same)
	require.Len(t, ends, 1)
	require.ErrorIs(t, ends[0].Err, ErrDirectory)
	require.Empty(t, rejected(statemachine.RejectedLeft, same), "a late batch after the own Leave")
	for _, reason := range []statemachine.RejectReason{statemachine.RejectedSuperseded, statemachine.RejectedDirectory} {
		require.Empty(t, rejected(reason, func(e *statemachine.Rejected) { e.Node = 2 }), "of another node")
		require.Empty(t, rejected(reason, func(e *statemachine.Rejected) { e.Directory[5]++ }), "of another directory")
		require.Empty(t, rejected(reason, func(e *statemachine.Rejected) { e.Incarnation++ }), "of another start")
	}
}

func TestWhatIsAskedBeforeAFlushGoesOutInOneBatch(t *testing.T) {
	p := newPair(t)
	for ref, key := range []string{"a", "b", "c"} {
		p.hub.Acquire(Ref(ref+1), ask(key, time.Minute), 0)
		require.Empty(t, p.hub.Effects())
	}
	p.hub.Cancel(2, 0)
	require.Equal(t, []Effect{Over{2}}, p.hub.Effects())
	sends := of[Send](p.flush(0))
	require.Len(t, sends, 1)
	batch, err := statemachine.DecodeBatch(sends[0].Data)
	require.NoError(t, err)
	require.Len(t, batch.Commands, 2)
	require.Empty(t, p.flush(0))
}
