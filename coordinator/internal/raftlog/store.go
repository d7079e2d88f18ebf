package raftlog

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/lni/dragonboat/v4/raftio"
)

// Store is the log store of a node.
type Store struct {
	dir     string
	db      *pebble.DB
	failure *failure
	stall   *stall

	// order is held from reading what a replica has until the batch that changes
	// it has its place in the write-ahead log. SaveRaftState shares it: at any
	// time one step worker writes a replica. Everything else holds it alone,
	// because it may write a replica of any worker. Nobody holds it while waiting
	// for a sync.
	order sync.RWMutex

	mu       sync.Mutex // guards the map; what it holds belongs to who holds order
	replicas map[replicaID]*replica

	alive  sync.RWMutex // shared by every call, held alone by Close
	closed bool
	end    error // what the first Close returned
}

var _ raftio.ILogDB = (*Store)(nil)

func newStore(dir string, db *pebble.DB, failure *failure, stall *stall) *Store {
	return &Store{
		dir: dir, db: db, failure: failure, stall: stall,
		replicas: make(map[replicaID]*replica),
	}
}

// Name implements raftio.ILogDB.
func (*Store) Name() string { return Name }

// BinaryFormat implements raftio.ILogDB.
func (*Store) BinaryFormat() uint32 { return BinaryFormat }

// Close makes everything durable and releases the directory. It waits for the
// calls that are inside the store. The first call decides the result; later ones
// wait for it and return the same. Calls of other methods return ErrClosed from
// then on. After an error the directory is released all the same, and what was not
// yet synced may be lost.
func (s *Store) Close() error {
	s.alive.Lock()
	defer s.alive.Unlock()
	if s.closed {
		return s.end
	}
	s.closed = true
	if err := s.db.Close(); err != nil {
		s.end = fmt.Errorf("close log store %s: %w", s.dir, err)
	}
	s.stall.close()
	s.end = errors.Join(s.end, s.failure.get())
	return s.end
}

// enter begins a call that may read. leave must follow when it returns nil.
func (s *Store) enter() error {
	s.alive.RLock()
	if s.closed {
		s.alive.RUnlock()
		return fmt.Errorf("%w: %s", ErrClosed, s.dir)
	}
	return nil
}

// enterToWrite is enter for a call that writes: it also returns the failure of
// the store.
func (s *Store) enterToWrite() error {
	if err := s.enter(); err != nil {
		return err
	}
	if err := s.failure.get(); err != nil {
		s.leave()
		return err
	}
	return nil
}

func (s *Store) leave() { s.alive.RUnlock() }

func (s *Store) readError(err error) error {
	if pebble.IsCorruptionError(err) {
		err = fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return fmt.Errorf("read log store %s: %w", s.dir, err)
}

// recordError says which record could not be read.
func (s *Store) recordError(id replicaID, err error) error {
	return fmt.Errorf("read log store %s: %s: %w", s.dir, id, err)
}
