package raftlog

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// facts is what the store checks the changes of a replica against.
type facts struct {
	status
	snapshot uint64 // index of the snapshot, 0 if there is none
}

// replica is what was written of a replica, kept in memory so that no call that
// writes has to read.
type replica struct {
	id replicaID
	// now is what the last batch left, and next what the batch that is being made
	// will leave.
	now, next facts
	editing   bool // next is in use
}

// replica returns the one handle of the replica. The first call reads two
// records.
func (s *Store) replica(id replicaID) (*replica, error) {
	s.mu.Lock()
	r := s.replicas[id]
	s.mu.Unlock()
	if r != nil {
		return r, nil
	}
	known, _, err := s.load(id)
	if err != nil {
		return nil, err
	}
	r = &replica{id: id, now: known}
	s.mu.Lock()
	s.replicas[id] = r
	s.mu.Unlock()
	return r, nil
}

// load reads what is on disk of a replica, and whether there is a status.
func (s *Store) load(id replicaID) (f facts, known bool, err error) {
	// Both records are read as of one moment.
	view := s.db.NewSnapshot()
	defer view.Close()
	err = s.get(view, id, keyOf(id, kindStatus), func(value []byte) (err error) {
		known = true
		f.status, err = decodeStatus(value)
		return err
	})
	if err != nil {
		return facts{}, false, err
	}
	err = s.get(view, id, keyOf(id, kindSnapshot), func(value []byte) error {
		ss, err := decodeSnapshot(value)
		f.snapshot = ss.Index
		return err
	})
	if err != nil {
		return facts{}, false, err
	}
	if f.snapshot > f.Commit {
		return facts{}, false, s.recordError(id, fmt.Errorf("%w: snapshot %d is beyond the commit index %d", ErrCorrupt, f.snapshot, f.Commit))
	}
	return f, known, nil
}

// get calls fn with the value of a key of the replica, if there is one. fn's
// error is said to be about the replica.
func (s *Store) get(from pebble.Reader, id replicaID, key []byte, fn func(value []byte) error) error {
	value, closer, err := from.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return s.readError(err)
	}
	if err := fn(value); err != nil {
		return errors.Join(s.recordError(id, err), closer.Close())
	}
	if err := closer.Close(); err != nil {
		return s.readError(err)
	}
	return nil
}
