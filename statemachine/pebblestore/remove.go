package pebblestore

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// Remove deletes the image for good. It blocks for two Flushes. Once it returns
// nil nothing of the image is left, and Image refuses the replica with
// ErrRemoved from now on and after every restart: a replica's id is never used
// again, and whoever finds the mark at a start knows that the rest of the
// replica, its Raft log, has to go too. After a failure the mark may be set; the
// next Open goes on from there. Removing twice is allowed.
//
// The mark is durable before anything is deleted, so that no start finds a
// replica whose log goes on from an image that is no longer there.
//
// Errors: ErrClosed, or the failure of the store.
func (i *Image) Remove() error {
	leave, err := i.enter()
	if errors.Is(err, ErrRemoved) {
		return nil
	}
	if err != nil {
		return err
	}
	defer leave()

	if err := i.mark(); err != nil {
		return err
	}
	if err := i.store.flusher.flush(); err != nil {
		return err
	}
	if err := i.store.erase(i.id); err != nil {
		return err
	}
	return i.store.flusher.flush()
}

// mark sets the removal mark, unsynced. No call enters the image any more.
func (i *Image) mark() error {
	err := i.store.change(func(batch *pebble.Batch) error {
		return batch.Set(replicaKey(kindRemoved, i.id), nil, nil)
	})
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mu.removed = true
	return nil
}

// erase deletes everything of the replica but its mark, unsynced.
func (s *Store) erase(id replicaID) error {
	prefix := replicaKey(kindRecord, id)
	return s.change(func(batch *pebble.Batch) error {
		return errors.Join(
			batch.DeleteRange(prefix, successor(prefix), nil),
			batch.Delete(replicaKey(kindName, id), nil),
		)
	})
}
