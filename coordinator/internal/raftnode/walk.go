package raftnode

import (
	"fmt"
	"iter"
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// walkStep is how many keys a walk looks at under the read lock at a time: a
// tenth of a millisecond, if it need not look at queues.
const walkStep = 256

// Walk calls fn for the keys of a group that are held or waited for, as they are
// here, in no order, until fn returns false. See statemachine.Machine.Walk. In
// contrast to View it holds the group up for a few keys at a time, and fn runs
// without a lock.
//
// Errors: ErrUnknownGroup.
func (n *Node) Walk(group statemachine.GroupID, queue int, fn func(statemachine.Glance) bool) error {
	r := n.replica(group)
	if r == nil {
		return fmt.Errorf("%w: %d", ErrUnknownGroup, group)
	}
	var machine *statemachine.Machine
	r.view(func(m *statemachine.Machine) { machine = m })
	// After the installing of a snapshot this goes on over the machine that was
	// there before, which changes no more.
	next, stop := iter.Pull(machine.Walk(queue))
	defer stop()
	step := make([]statemachine.Glance, 0, walkStep)
	for {
		step = step[:0]
		r.view(func(*statemachine.Machine) {
			for glance, ok := next(); ok; glance, ok = next() {
				if step = append(step, glance); len(step) == walkStep {
					return
				}
			}
		})
		for _, glance := range step {
			if !fn(glance) {
				return nil
			}
		}
		if len(step) < walkStep {
			return nil
		}
	}
}

// Heard is how a replica stands with a node.
type Heard struct {
	Presence statemachine.Presence
	// Ago is how long ago this replica applied the last batch of that
	// incarnation, or was opened or installed a snapshot, if it has not heard one
	// since.
	Ago time.Duration
}

// Heard returns how the replica of a group stands with each node, by node. Of an
// unknown group it returns nil.
func (n *Node) Heard(group statemachine.GroupID) []Heard {
	r := n.replica(group)
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	r.proposerMu.Lock()
	defer r.proposerMu.Unlock()
	now := r.clock.Now()
	presences := r.machine.Presences()
	heard := make([]Heard, len(presences))
	for i, p := range presences {
		heard[i].Presence = p
		if at, ok := r.proposer.Heard(p.Node); ok {
			heard[i].Ago = now.Sub(at)
		}
	}
	return heard
}
