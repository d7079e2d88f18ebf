package raftlog

import "github.com/cockroachdb/pebble/v2"

// change is one batch in the making. It belongs to one goroutine, which holds
// order until seal has returned.
type change struct {
	store   *Store
	batch   *pebble.Batch
	durable bool // the batch is to be synced
	waiting bool // a sync was asked for, and wait was not yet called
	edited  []*replica
	erased  []replicaID
}

// begin starts a change. close must follow.
func (s *Store) begin() change { return change{store: s, batch: s.db.NewBatch()} }

// alone makes a change that may be of any replica. Nothing is written when fill
// returns an error, which is then returned as it is.
func (s *Store) alone(fill func(*change) error) error {
	if err := s.enterToWrite(); err != nil {
		return err
	}
	defer s.leave()
	c := s.begin()
	defer c.close()
	s.order.Lock()
	err := c.seal(fill(&c))
	s.order.Unlock()
	if err != nil {
		return err
	}
	return c.wait()
}

// edit returns the handle of a replica, whose next may be changed.
func (c *change) edit(id replicaID) (*replica, error) {
	r, err := c.store.replica(id)
	if err != nil {
		return nil, err
	}
	if !r.editing {
		r.editing, r.next = true, r.now
		c.edited = append(c.edited, r)
	}
	return r, nil
}

// erase deletes everything of a replica. What is put into the batch afterwards
// stays; the replica must not be edited.
func (c *change) erase(id replicaID) error {
	lower, upper := span(id)
	c.durable = true
	c.erased = append(c.erased, id)
	return c.batch.DeleteRange(lower, upper, nil)
}

// seal ends the making of the batch. Unless err, from making it, says that it is
// to be dropped, it gives the batch its place in the write-ahead log; whoever
// reads after that sees the change.
func (c *change) seal(err error) error {
	if err == nil {
		err = c.apply()
	}
	for _, r := range c.edited {
		r.editing = false
		if err == nil {
			r.now = r.next
		}
	}
	if err != nil || len(c.erased) == 0 {
		return err
	}
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range c.erased {
		delete(s.replicas, id) // the next to need it reads it
	}
	return nil
}

func (c *change) apply() error {
	for _, r := range c.edited {
		if r.next.status == r.now.status {
			continue
		}
		if r.next.Term != r.now.Term || r.next.Vote != r.now.Vote {
			c.durable = true
		}
		if err := c.putStatus(r.id, r.next.status); err != nil {
			return err
		}
	}
	if c.batch.Empty() {
		return nil
	}
	if err := c.commit(); err != nil {
		return c.store.failure.set(err)
	}
	return nil
}

// commit returns before the batch is synced.
func (c *change) commit() error {
	s := c.store
	s.failure.writing.Add(1)
	defer s.failure.writing.Add(-1)
	if !c.durable {
		return s.db.Apply(c.batch, pebble.NoSync)
	}
	c.waiting = true
	return s.db.ApplyNoSyncWait(c.batch, pebble.Sync)
}

// wait returns when the batch is synced, if it is to be.
func (c *change) wait() error {
	if !c.waiting {
		return nil
	}
	c.waiting = false
	if err := c.batch.SyncWait(); err != nil {
		return c.store.failure.set(err)
	}
	return nil
}

func (c *change) close() {
	_ = c.batch.Close() // gives its memory back; there is nothing to fail
}

func (c *change) putStatus(id replicaID, s status) error {
	op := c.batch.SetDeferred(keyBytes, statusBytes)
	putKey(op.Key, id, kindStatus)
	s.put(op.Value)
	return op.Finish()
}

func (c *change) put(id replicaID, kind byte, record interface{ Marshal() ([]byte, error) }) error {
	value, err := record.Marshal()
	if err != nil {
		return err
	}
	return c.batch.Set(keyOf(id, kind), value, nil)
}

// deleteEntries deletes the entries from first to last.
func (c *change) deleteEntries(id replicaID, first, last uint64) error {
	return c.batch.DeleteRange(entryKey(id, first), entryKey(id, last+1), nil)
}
