package pebblestore

import (
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// Snapshot is an image as it was when Prepare was called. It keeps the engine
// from dropping what was overwritten since, so close it soon.
type Snapshot struct {
	store *Store
	id    replicaID
	// number is unnamed for a replica without an image.
	number uint64
	// view is nil when the image is unnamed or err is set. It may be closed
	// only by who takes the snapshot out of store.mu.snapshots.
	view *pebble.Snapshot
	err  error // why Prepare could not make one
}

// Prepare returns the state of the image at the call. It does not wait for a
// Commit or Recover that runs, and they do not wait for the snapshot. The caller
// must close it. When the store is closed or the replica removed, WriteTo says
// so.
func (i *Image) Prepare() *Snapshot {
	s := i.store
	if err := s.gate.enter(); err != nil {
		return &Snapshot{store: s, id: i.id, err: err}
	}
	defer s.gate.leave()

	sn := i.view()
	if sn.view != nil {
		// Close of the store waits for this call, so it finds the snapshot.
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mu.snapshots[sn] = struct{}{}
	}
	return sn
}

// view returns a snapshot that the store does not know yet.
func (i *Image) view() *Snapshot {
	i.mu.Lock()
	defer i.mu.Unlock()
	sn := &Snapshot{store: i.store, id: i.id, number: i.mu.number}
	switch {
	case i.mu.removed:
		sn.err = i.removedError()
	case i.mu.number != unnamed:
		sn.view = i.store.db.NewSnapshot()
	}
	return sn
}

// WriteTo writes the snapshot to w in the stream format. It may be called again.
// It blocks as w does, and looks at stop before every record; a nil stop never
// stops. On failure w has got a part that no Recover accepts.
//
// Errors: ErrStopped, ErrClosed (of the snapshot or the store), ErrRemoved, the
// engine's read error, or w's.
func (sn *Snapshot) WriteTo(w io.Writer, stop <-chan struct{}) error {
	if sn.err != nil {
		return sn.err
	}
	if err := sn.store.gate.enter(); err != nil {
		return err
	}
	defer sn.store.gate.leave()
	if err := sn.store.gate.check(stop); err != nil {
		return err
	}

	out, err := newStreamWriter(w)
	if err != nil {
		return sn.writeError(err)
	}
	if sn.number != unnamed {
		records, err := sn.scan()
		if err != nil {
			return err
		}
		err = records.each(func(key, value []byte) error {
			if err := sn.store.gate.check(stop); err != nil {
				return err
			}
			if err := out.record(key, value); err != nil {
				return sn.writeError(err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := out.trailer(); err != nil {
		return sn.writeError(err)
	}
	return nil
}

// scan opens a walk over the snapshot. The walk holds what it needs by itself,
// so a Close that comes after it does no harm.
func (sn *Snapshot) scan() (*scan, error) {
	s := sn.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.mu.snapshots[sn]; !open {
		return nil, fmt.Errorf("%w: snapshot of %s", ErrClosed, sn.id)
	}
	return s.scan(sn.view, imagePrefix(sn.id, sn.number))
}

// Close releases the snapshot. Later calls, and calls after the store's Close,
// do nothing. It does not block. A WriteTo that runs goes on to its end.
func (sn *Snapshot) Close() {
	s := sn.store
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(sn)
}

// release closes the engine's snapshot if it is still held. s.mu must be held.
func (s *Store) release(sn *Snapshot) {
	if _, open := s.mu.snapshots[sn]; !open {
		return
	}
	delete(s.mu.snapshots, sn)
	// The engine's Close only takes the snapshot off a list; it returns no error.
	_ = sn.view.Close()
}

// closeSnapshots closes those that their owners have not.
func (s *Store) closeSnapshots() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sn := range s.mu.snapshots {
		s.release(sn)
	}
}

// writeError tells a fault of the receiver from one of the store.
func (sn *Snapshot) writeError(err error) error {
	return fmt.Errorf("write snapshot of %s: %w", sn.id, err)
}
