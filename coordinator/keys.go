package coordinator

import (
	"fmt"
	"iter"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/keeper"
	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
	"github.com/palisade-go/palisade/statemachine"
)

// KeyState is what the replica of this node knows of a key, which may lag behind
// the group.
type KeyState struct {
	Key    string
	Group  int
	Holder *Holder       // nil: nobody holds it, the first in line is about to
	TTL    time.Duration // of the lease; 0: nobody holds it
	// Remaining is how long the lease goes on if its node is not heard again: the
	// safe window of a lease of this node; the TTL from when the replica last heard
	// the node, of one of another node. A max hold is not looked at. 0: it may be
	// expired at any time.
	Remaining time.Duration
	Waiters   int
	Queue     []Waiter // the first of them, in the order of service
}

// Keys goes over the keys that are held or waited for by whichever node, as the
// replicas of this node know them, in no order. Queue has queue waiters at most.
// It is for pages and tools: what it shows of a key is as of one moment, but the
// keys are not all of the same. It never waits for others, costs no log entry and
// holds a group up for 256 keys at a time. Safe for concurrent use; after Close
// it shows what was known last.
func (c *Coordinator) Keys(queue int) iter.Seq[KeyState] {
	return func(yield func(KeyState) bool) {
		for _, g := range c.groups {
			more := true
			heard := c.hearsay(g)
			// The only error is an unknown group.
			_ = c.node.Walk(g.id, queue, func(glance statemachine.Glance) bool {
				more = yield(c.keyState(g, glance, heard))
				return more
			})
			if !more {
				return
			}
		}
	}
}

// Peek returns what the replica of this node knows of one key, false if it is
// free. Unlike Inspect it asks nobody, and so works without a quorum and may lag
// behind. Queue has queue waiters at most. Errors: ErrInvalid.
func (c *Coordinator) Peek(key string, queue int) (KeyState, bool, error) {
	if err := checkKey(key); err != nil {
		return KeyState{}, false, &Error{"Peek", shorten(key), NotApplied, fmt.Errorf("%w: %w", ErrInvalid, err)}
	}
	g := c.groupOf(key)
	heard := c.hearsay(g)
	var glance statemachine.Glance
	var taken bool
	_ = c.node.View(g.id, func(m *statemachine.Machine) { glance, taken = m.Glance(key, queue) })
	if !taken {
		return KeyState{Key: key, Group: int(g.id)}, false, nil
	}
	return c.keyState(g, glance, heard), true, nil
}

// hearsay is how a group's replica stands with each node.
type hearsay map[statemachine.NodeID]raftnode.Heard

func (c *Coordinator) hearsay(g *group) hearsay {
	s := hearsay{}
	for _, h := range c.node.Heard(g.id) {
		s[h.Presence.Node] = h
	}
	return s
}

func (c *Coordinator) keyState(g *group, glance statemachine.Glance, s hearsay) KeyState {
	state := KeyState{
		Key: glance.Holder.Key, Group: int(g.id), Waiters: glance.Waiters, Queue: waitersOf(glance.Queue),
	}
	if !glance.Held {
		return state
	}
	h, id := holderOf(glance.Holder), glance.Holder.Lease
	state.Holder, state.TTL = &h, glance.Holder.TTL
	switch heard, known := s[id.Node]; {
	case id.Node == c.identity.Node && id.Incarnation == c.identity.Incarnation:
		state.Remaining = g.heardAt().Add(keeper.Window(state.TTL)).Sub(c.env.Clock.Now())
	case known && heard.Presence.Incarnation == id.Incarnation:
		state.Remaining = state.TTL - heard.Ago
	}
	state.Remaining = min(max(0, state.Remaining), state.TTL)
	return state
}
