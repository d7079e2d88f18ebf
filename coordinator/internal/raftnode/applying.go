package raftnode

import (
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// ApplyingSince returns since when the apply loop of a group has been at what
// it does now: entries that are committed and not applied here yet, or a sync
// of the store, during which the engine applies nothing. It returns false
// between two of these, while a snapshot is installed, which takes as long as
// it is large, and for an unknown group. It never blocks.
func (n *Node) ApplyingSince(group statemachine.GroupID) (time.Time, bool) {
	r := n.replica(group)
	if r == nil {
		return time.Time{}, false
	}
	return r.applying.Since()
}
