package raftnode

import (
	"sync/atomic"

	"github.com/palisade-go/palisade/statemachine"
)

// Stats counts what happened in one group on this node since Open.
type Stats struct {
	LeaderChanges      uint64 // changes of leader or term, also to none
	Offices            uint64 // how often this replica took office
	ExpireProposed     uint64 // Expire and ExpireLimit commands
	SweepsProposed     uint64
	SnapshotsInstalled uint64 // by this replica, from another one
	// SnapshotsCreated is an upper bound; it also counts what was given up.
	SnapshotsCreated uint64
	EntriesSkipped   uint64 // entries that did not decode
	AppliedIndex     statemachine.Index
}

// counters are where Stats comes from.
type counters struct {
	leaderChanges, offices               atomic.Uint64
	expireProposed, sweepsProposed       atomic.Uint64
	snapshotsInstalled, snapshotsCreated atomic.Uint64
	entriesSkipped, applied              atomic.Uint64
}

// Stats returns the counts of a group. It never blocks. Of an unknown group
// it returns the zero value.
func (n *Node) Stats(group statemachine.GroupID) Stats {
	r := n.replica(group)
	if r == nil {
		return Stats{}
	}
	c := &r.counters
	return Stats{
		LeaderChanges:      c.leaderChanges.Load(),
		Offices:            c.offices.Load(),
		ExpireProposed:     c.expireProposed.Load(),
		SweepsProposed:     c.sweepsProposed.Load(),
		SnapshotsInstalled: c.snapshotsInstalled.Load(),
		SnapshotsCreated:   c.snapshotsCreated.Load(),
		EntriesSkipped:     c.entriesSkipped.Load(),
		AppliedIndex:       statemachine.Index(c.applied.Load()),
	}
}
