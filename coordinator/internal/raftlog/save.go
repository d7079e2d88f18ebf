package raftlog

import (
	"fmt"

	"github.com/lni/dragonboat/v4/raftpb"
)

// SaveRaftState writes what the steps of some replicas have changed, in one batch:
// entries, hard states, and snapshots that were received. A replica occurs once at
// most. The call returns when the batch is synced, if it has an entry, a snapshot,
// or a term or vote that is new; otherwise it does not wait for the disk. Updates
// that change nothing are not written.
//
// After an error nothing was written, or the store has failed for good.
//
// Errors: ErrBroken, ErrCorrupt, ErrClosed, or the failure of the store.
func (s *Store) SaveRaftState(updates []raftpb.Update, _ uint64) error {
	if err := s.enterToWrite(); err != nil {
		return err
	}
	defer s.leave()
	c := s.begin()
	defer c.close()
	s.order.RLock()
	err := c.seal(c.saveAll(updates))
	s.order.RUnlock()
	if err != nil {
		return err
	}
	return c.wait()
}

func (c *change) saveAll(updates []raftpb.Update) error {
	for i := range updates {
		if err := c.save(&updates[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *change) save(u *raftpb.Update) error {
	id := replicaID{u.ShardID, u.ReplicaID}
	if raftpb.IsEmptyState(u.State) && raftpb.IsEmptySnapshot(u.Snapshot) && len(u.EntriesToSave) == 0 {
		return nil
	}
	r, err := c.edit(id)
	if err != nil {
		return err
	}
	if err := c.saveState(r, u.State); err != nil {
		return err
	}
	if u.Snapshot.Index > r.next.snapshot {
		if err := c.install(r, &u.Snapshot); err != nil {
			return err
		}
	}
	if err := c.saveEntries(r, u.EntriesToSave); err != nil {
		return err
	}
	return r.check()
}

func (c *change) saveState(r *replica, state raftpb.State) error {
	if raftpb.IsEmptyState(state) {
		return nil
	}
	if state.Term < r.next.Term {
		return fmt.Errorf("%w: %s goes back from term %d to %d", ErrBroken, r.id, r.next.Term, state.Term)
	}
	state.Commit = max(state.Commit, r.next.snapshot)
	r.next.State = state
	return nil
}

// install saves a snapshot that takes the place of the whole log.
func (c *change) install(r *replica, ss *raftpb.Snapshot) error {
	if r.next.removed < r.next.last {
		if err := c.deleteEntries(r.id, r.next.removed+1, r.next.last); err != nil {
			return err
		}
	}
	r.next.removed, r.next.last = ss.Index, ss.Index
	return c.saveSnapshot(r, ss)
}

// saveSnapshot saves the metadata of a snapshot, which must be newer than the one
// there is.
func (c *change) saveSnapshot(r *replica, ss *raftpb.Snapshot) error {
	c.durable = true
	r.next.snapshot = ss.Index
	r.next.Commit = max(r.next.Commit, ss.Index)
	return c.put(r.id, kindSnapshot, ss)
}

func (c *change) saveEntries(r *replica, entries []raftpb.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	first := entries[0].Index
	if first <= r.next.removed || first > r.next.last+1 {
		return fmt.Errorf("%w: %s gets entries from %d on, and has those from %d to %d",
			ErrBroken, r.id, first, r.next.removed+1, r.next.last)
	}
	c.durable = true
	for i := range entries {
		if entries[i].Index != first+uint64(i) {
			return fmt.Errorf("%w: %s gets entry %d in the place of %d", ErrBroken, r.id, entries[i].Index, first+uint64(i))
		}
		if err := c.putEntry(r.id, &entries[i]); err != nil {
			return err
		}
	}
	last := entries[len(entries)-1].Index
	if last < r.next.last {
		// The first of them took the place of another one, so what followed that
		// is void.
		if err := c.deleteEntries(r.id, last+1, r.next.last); err != nil {
			return err
		}
	}
	r.next.last = last
	return nil
}

// putEntry marshals the entry into the batch, without a copy.
func (c *change) putEntry(id replicaID, e *raftpb.Entry) error {
	size := e.Size()
	op := c.batch.SetDeferred(entryKeyBytes, size)
	putEntryKey(op.Key, id, e.Index)
	if n, err := e.MarshalTo(op.Value); err != nil || n != size {
		return fmt.Errorf("marshal entry %d of %s: %d bytes of %d: %w", e.Index, id, n, size, err)
	}
	return op.Finish()
}

// check returns ErrBroken if next breaks invariant 3.
func (r *replica) check() error {
	if n := r.next; n.snapshot > n.Commit || n.Commit > n.last {
		return fmt.Errorf("%w: %s would have snapshot %d, commit %d, last entry %d", ErrBroken, r.id, n.snapshot, n.Commit, n.last)
	}
	return nil
}

// SaveSnapshots writes the metadata of snapshots that the replicas have made
// themselves, and raises their commit indexes to them. One that is not newer than
// the one there is counts for nothing. The call returns when all is synced.
//
// Errors: as SaveRaftState.
func (s *Store) SaveSnapshots(updates []raftpb.Update) error {
	return s.alone(func(c *change) error {
		for i := range updates {
			u := &updates[i]
			if raftpb.IsEmptySnapshot(u.Snapshot) {
				continue
			}
			r, err := c.edit(replicaID{u.ShardID, u.ReplicaID})
			if err != nil {
				return err
			}
			if u.Snapshot.Index <= r.next.snapshot {
				continue
			}
			if err := c.saveSnapshot(r, &u.Snapshot); err != nil {
				return err
			}
			if err := r.check(); err != nil {
				return err
			}
		}
		return nil
	})
}

// SaveBootstrapInfo writes how the replica was started. The call returns when it
// is synced.
//
// Errors: ErrClosed, or the failure of the store.
func (s *Store) SaveBootstrapInfo(group, replica uint64, b raftpb.Bootstrap) error {
	return s.alone(func(c *change) error {
		c.durable = true
		return c.put(replicaID{group, replica}, kindBootstrap, &b)
	})
}
