package raftlog

import (
	"fmt"

	"github.com/lni/dragonboat/v4/raftpb"
)

// RemoveEntriesTo removes the replica's entries up to and including index. It
// does not wait for the disk: after a crash they may be back. Their space comes
// back by pebble's own compactions, which the writes that follow bring about.
//
// Errors: ErrCorrupt, ErrClosed, or the failure of the store.
func (s *Store) RemoveEntriesTo(group, replica, index uint64) error {
	return s.alone(func(c *change) error {
		r, err := c.edit(replicaID{group, replica})
		if err != nil {
			return err
		}
		index := min(index, r.next.last)
		if index <= r.next.removed {
			return nil
		}
		if err := c.deleteEntries(r.id, r.next.removed+1, index); err != nil {
			return err
		}
		r.next.removed = index
		return nil
	})
}

// CompactEntriesTo has nothing to do, and the channel it returns is closed: what
// RemoveEntriesTo removed costs no more than a few memtables until pebble compacts
// it away by itself, and rewriting the log for each snapshot would cost more than
// it gives back. Nor could Close break off a compaction that was asked for: pebble
// v2.1.7 panics when the context of DB.Compact ends while that waits for its turn.
//
// Errors: ErrClosed.
func (s *Store) CompactEntriesTo(uint64, uint64, uint64) (<-chan struct{}, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	done := make(chan struct{})
	close(done)
	return done, nil
}

// RemoveNodeData removes everything of the replica. The call returns when that is
// synced.
//
// Errors: ErrClosed, or the failure of the store.
func (s *Store) RemoveNodeData(group, replica uint64) error {
	return s.alone(func(c *change) error { return c.erase(replicaID{group, replica}) })
}

// ImportSnapshot makes the snapshot all there is of the replica: its log is
// empty and begins after it, and the next start joins with it. The call returns
// when that is synced.
//
// Errors: ErrBroken when the snapshot names no index, term or kind of machine,
// ErrClosed, or the failure of the store.
func (s *Store) ImportSnapshot(ss raftpb.Snapshot, replica uint64) error {
	if raftpb.IsEmptySnapshot(ss) || ss.Term == 0 || ss.Type == raftpb.UnknownStateMachine {
		return fmt.Errorf("%w: group %d can't begin with a snapshot of index %d, term %d, %s",
			ErrBroken, ss.ShardID, ss.Index, ss.Term, ss.Type)
	}
	return s.alone(func(c *change) error {
		id := replicaID{ss.ShardID, replica}
		if err := c.erase(id); err != nil {
			return err
		}
		if err := c.put(id, kindBootstrap, &raftpb.Bootstrap{Join: true, Type: ss.Type}); err != nil {
			return err
		}
		state := raftpb.State{Term: ss.Term, Commit: ss.Index}
		if err := c.putStatus(id, status{State: state, removed: ss.Index, last: ss.Index}); err != nil {
			return err
		}
		return c.put(id, kindSnapshot, &ss)
	})
}
