package raftnode

import (
	"sync"
	"sync/atomic"

	"github.com/palisade-go/palisade/statemachine"
)

// Sink listens to one group on this node. Its methods are called one at a
// time and must not block: they run in the apply loop, and groups share its
// workers. After Close has returned none of them is called.
type Sink interface {
	// Applied tells the events of one log entry, in log order, after the
	// store has it. Events is not empty and belongs to the Sink.
	Applied(index statemachine.Index, events []statemachine.Event)
	// Installed tells the state of this node at an index: once when the
	// replica was opened and after each snapshot install. The entries up to
	// that index that were not told before never will be.
	Installed(state State)
	// Leader tells who leads as far as this replica knows, at each change of
	// leader or term. It is not ordered with the other two.
	Leader(leader LeaderInfo)
}

// State is what a group knows of this node.
type State struct {
	Index    statemachine.Index
	Presence statemachine.Presence
	// Leases and Waits are those of this incarnation. What earlier ones left can
	// be a million, and is the leader's to sweep.
	Leases []statemachine.Lease
	Waits  []statemachine.Wait
}

// LeaderInfo is a replica's knowledge of the leader, which may be out of date.
type LeaderInfo struct {
	Leader statemachine.NodeID // 0: none is known
	Term   uint64
}

// voice is the only way to a Sink. It keeps the calls from overlapping and
// ends them for good.
type voice struct {
	sink  Sink
	muted atomic.Bool
	mu    sync.Mutex // held during a call
}

func (v *voice) say(tell func(Sink)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.muted.Load() {
		tell(v.sink)
	}
}

// mute lets no call begin any more. It does not wait for one that is running.
func (v *voice) mute() { v.muted.Store(true) }

// silence waits for the call that is running.
func (v *voice) silence() {
	v.mu.Lock()
	defer v.mu.Unlock()
}
