package pebblestore

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options holds what a caller may choose. The zero value is ready to use.
type Options struct {
	// FS is the file system that holds the directory. Tests give one in memory
	// or one with faults. Default: the operating system's.
	FS vfs.FS

	// Logger gets the warnings and errors of the store and of its engine.
	// Default: they are discarded.
	Logger *slog.Logger
}

// Store holds the images of all replicas of one node.
type Store struct {
	dir     string
	db      *pebble.DB
	gate    *gate
	failure *failure
	flusher *flusher

	mu struct {
		sync.Mutex
		images    map[replicaID]*Image
		snapshots map[*Snapshot]struct{} // those that hold an engine's snapshot
	}

	closing sync.Once
	closed  error // what the first Close returned
}

// Image returns the image of the replica, which is empty when nothing was ever
// committed to it. There is one handle for each (group, replica): a second call
// returns the same one. The first call reads two records.
//
// Errors: ErrRemoved when the replica was removed from this node, ErrCorrupt,
// ErrClosed, or the engine's read error.
func (s *Store) Image(group, replica uint64) (*Image, error) {
	if err := s.gate.enter(); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	image, err := s.handle(replicaID{group, replica})
	if err != nil {
		return nil, err
	}
	if image.isRemoved() {
		return nil, image.removedError()
	}
	return image, nil
}

// handle returns the one handle of the replica, and makes it if there is none.
func (s *Store) handle(id replicaID) (*Image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if image, ok := s.mu.images[id]; ok {
		return image, nil
	}
	if _, removed, err := s.get(replicaKey(kindRemoved, id)); err != nil {
		return nil, err
	} else if removed {
		return nil, fmt.Errorf("%w: %s", ErrRemoved, id)
	}
	number, err := s.named(id)
	if err != nil {
		return nil, err
	}
	image := newImage(s, id, number)
	s.mu.images[id] = image
	return image, nil
}

// Flush returns when everything committed before the call, to any image, is
// durable. It blocks for the disk: calls that overlap share its work, and a call
// with nothing to do returns at once. On failure what was committed since the
// last successful Flush may or may not survive a crash, as a prefix; the store
// has failed for good.
//
// Errors: ErrClosed, or the failure of the store.
func (s *Store) Flush() error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	return s.flusher.flush()
}

// DiskBytes returns how many bytes the store takes on disk: live files, those
// not yet deleted, and those being written. It is 0 after Close. It does no I/O.
func (s *Store) DiskBytes() uint64 {
	if err := s.gate.enter(); err != nil {
		return 0
	}
	defer s.gate.leave()
	return s.db.Metrics().DiskSpaceUsage()
}

// Close makes every commit durable and releases the directory. It waits for the
// calls that are inside the store; Recover, WriteTo and Each end early with
// ErrClosed. Snapshots that are still open are closed. The first call decides
// the result; later ones wait for it and return the same. After an error the
// directory is released all the same, and what was committed since the last
// successful Flush may be lost.
//
// It must not be called from within Each.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.gate.shut()
		s.closeSnapshots()
		err := s.flusher.flush()
		if closeErr := s.db.Close(); closeErr != nil {
			err = errors.Join(err, fmt.Errorf("close lock store %s: %w", s.dir, closeErr))
		}
		s.closed = err
	})
	return s.closed
}

// get returns a copy of the value of key, and whether there is one.
func (s *Store) get(key []byte) ([]byte, bool, error) {
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, s.readError(err)
	}
	value = append([]byte(nil), value...)
	if err := closer.Close(); err != nil {
		return nil, false, s.readError(err)
	}
	return value, true, nil
}

// named returns the number of the replica's image, unnamed when it has none.
func (s *Store) named(id replicaID) (uint64, error) {
	value, ok, err := s.get(replicaKey(kindName, id))
	if err != nil || !ok {
		return unnamed, err
	}
	return parseNameValue(id, value)
}

// apply commits the batch, unsynced. On failure nothing of it was applied.
func (s *Store) apply(batch *pebble.Batch) error {
	if err := s.failure.get(); err != nil {
		return err
	}
	if err := s.db.Apply(batch, pebble.NoSync); err != nil {
		return fmt.Errorf("commit to lock store %s: %w", s.dir, err)
	}
	s.flusher.commits.Add(1)
	return nil
}

// change commits what fill puts into a batch. fill's own error is returned as
// it is, and nothing was applied then.
func (s *Store) change(fill func(*pebble.Batch) error) error {
	batch := s.db.NewBatch()
	defer batch.Close()
	if err := fill(batch); err != nil {
		return err
	}
	return s.apply(batch)
}

func (s *Store) readError(err error) error {
	if pebble.IsCorruptionError(err) {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return fmt.Errorf("read lock store %s: %w", s.dir, err)
}
