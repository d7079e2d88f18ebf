package raftlog

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/lni/dragonboat/v4/raftio"
	"github.com/lni/dragonboat/v4/raftpb"
)

// IterateEntries appends the replica's entries from low on to entries, in order,
// and adds what the engine counts as their sizes to size. It ends before high, or
// at the end of the log, or with the first entry that brings size above maxSize:
// that one is still appended, so there is at least one. If there is no entry low,
// nothing is appended.
//
// Errors: ErrCorrupt, ErrClosed, or pebble's read error.
func (s *Store) IterateEntries(entries []raftpb.Entry, size uint64, group, replica uint64,
	low, high, maxSize uint64) ([]raftpb.Entry, uint64, error) {
	if err := s.enter(); err != nil {
		return nil, 0, err
	}
	defer s.leave()
	id := replicaID{group, replica}
	take := func(index uint64, value []byte) error {
		e, err := decodeEntry(index, value)
		if err == nil {
			entries = append(entries, e)
			size += uint64(e.SizeUpperLimit())
		}
		return err
	}
	var err error
	if low+1 == high {
		// The engine asks for many terms, one entry each.
		err = s.get(s.db, id, entryKey(id, low), func(value []byte) error { return take(low, value) })
	} else {
		err = s.each(id, low, high, func(index uint64, value []byte) (more bool, err error) {
			err = take(index, value)
			return size <= maxSize, err
		})
	}
	if err != nil {
		return nil, 0, err
	}
	return entries, size, nil
}

// each calls fn with the entries from low on, and none if there is no entry low.
func (s *Store) each(id replicaID, low, high uint64, fn func(index uint64, value []byte) (more bool, err error)) (err error) {
	if low >= high {
		return nil
	}
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: entryKey(id, low), UpperBound: entryKey(id, high)})
	if err != nil {
		return s.readError(err)
	}
	defer func() {
		if closeErr := iter.Close(); closeErr != nil && err == nil {
			err = s.readError(closeErr)
		}
	}()
	for next, ok := low, iter.First(); ok; next, ok = next+1, iter.Next() {
		index, err := parseEntryKey(iter.Key())
		if err != nil {
			return s.recordError(id, err)
		}
		if index != next {
			if next == low {
				return nil // it was removed
			}
			return s.recordError(id, fmt.Errorf("%w: entry %d follows entry %d", ErrCorrupt, index, next-1))
		}
		value, err := iter.ValueAndErr()
		if err != nil {
			return s.readError(err)
		}
		more, err := fn(index, value)
		if err != nil {
			return s.recordError(id, err)
		}
		if !more {
			return nil
		}
	}
	return nil
}

// ReadRaftState returns the hard state of the replica and which entries it has
// from index snapshot on. It looks for the first and the last of them.
//
// Errors: raftio.ErrNoSavedLog when nothing was written of the replica,
// ErrCorrupt, ErrClosed, or pebble's read error.
func (s *Store) ReadRaftState(group, replica, snapshot uint64) (raftio.RaftState, error) {
	if err := s.enter(); err != nil {
		return raftio.RaftState{}, err
	}
	defer s.leave()
	id := replicaID{group, replica}
	f, known, err := s.load(id)
	if err != nil {
		return raftio.RaftState{}, err
	}
	if !known {
		return raftio.RaftState{}, raftio.ErrNoSavedLog
	}
	state := raftio.RaftState{State: f.State, FirstIndex: snapshot}
	first := max(snapshot, f.removed+1)
	if first > f.last || snapshot == f.last {
		return state, nil
	}
	for _, index := range [...]uint64{first, f.last} {
		found := false
		err := s.get(s.db, id, entryKey(id, index), func(value []byte) error {
			found = true
			_, err := decodeEntry(index, value)
			return err
		})
		if err != nil {
			return raftio.RaftState{}, err
		}
		if !found {
			return raftio.RaftState{}, s.recordError(id, fmt.Errorf("%w: entry %d of %d to %d is missing", ErrCorrupt, index, f.removed+1, f.last))
		}
	}
	state.FirstIndex, state.EntryCount = first, f.last-first+1
	return state, nil
}

// GetSnapshot returns the metadata of the replica's last snapshot. It is empty
// when there is none.
//
// Errors: ErrCorrupt, ErrClosed, or pebble's read error.
func (s *Store) GetSnapshot(group, replica uint64) (ss raftpb.Snapshot, err error) {
	if err := s.enter(); err != nil {
		return raftpb.Snapshot{}, err
	}
	defer s.leave()
	id := replicaID{group, replica}
	err = s.get(s.db, id, keyOf(id, kindSnapshot), func(value []byte) (err error) {
		ss, err = decodeSnapshot(value)
		return err
	})
	return ss, err
}

// GetBootstrapInfo returns how the replica was started.
//
// Errors: raftio.ErrNoBootstrapInfo when the replica is not here, ErrCorrupt,
// ErrClosed, or pebble's read error.
func (s *Store) GetBootstrapInfo(group, replica uint64) (b raftpb.Bootstrap, err error) {
	if err := s.enter(); err != nil {
		return raftpb.Bootstrap{}, err
	}
	defer s.leave()
	id, found := replicaID{group, replica}, false
	err = s.get(s.db, id, keyOf(id, kindBootstrap), func(value []byte) (err error) {
		found = true
		b, err = decodeBootstrap(value)
		return err
	})
	if err == nil && !found {
		err = raftio.ErrNoBootstrapInfo
	}
	return b, err
}

// ListNodeInfo returns the replicas that were bootstrapped here, in order. It
// reads one key of each.
//
// Errors: ErrCorrupt, ErrClosed, or pebble's read error.
func (s *Store) ListNodeInfo() ([]raftio.NodeInfo, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	found := []raftio.NodeInfo{}
	for at := []byte{spaceReplica}; ; {
		key, err := s.firstKey(at)
		if err != nil || key == nil {
			return found, err
		}
		id, err := parsePrefix(key)
		if err != nil {
			return nil, fmt.Errorf("read log store %s: %w", s.dir, err)
		}
		if bytes.Equal(key, keyOf(id, kindBootstrap)) { // which is its first
			found = append(found, raftio.GetNodeInfo(id.group, id.replica))
		}
		_, at = span(id)
	}
}

// firstKey returns the first key from lower on, nil if there is none.
func (s *Store) firstKey(lower []byte) (key []byte, err error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower})
	if err != nil {
		return nil, s.readError(err)
	}
	if iter.First() {
		key = bytes.Clone(iter.Key())
	}
	if err := errors.Join(iter.Error(), iter.Close()); err != nil {
		return nil, s.readError(err)
	}
	return key, nil
}
