package diskstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// Store is a httpfence.Store in a directory. It may be used concurrently, for
// one resource by one caller at a time, as a httpfence.Guard does.
type Store struct {
	dir string
	max uint64 // operations of a resource
	db  *pebble.DB

	// mu is held for reading by whoever is inside the engine, which must not be
	// closed under them, and for writing by Close.
	mu     sync.RWMutex
	closed bool

	failure struct {
		sync.Mutex
		// cause is what went wrong at the first Save that failed. It is set once:
		// the engine shows a commit to readers before it is on disk, so what can
		// be read from then on may be lost at the next start.
		cause error
	}
}

var _ httpfence.Store = (*Store)(nil)

// Open opens the store in dir, which it makes if need be, with its parents. It
// blocks for the disk. After an error nothing is open: ErrInUse, ErrFormat,
// token.ErrInvalid, or the engine's error; all name dir.
func Open(dir string, cfg Config) (*Store, error) {
	s, err := open(dir, cfg)
	if err != nil {
		return nil, fmt.Errorf("open fence store %s: %w", dir, err)
	}
	return s, nil
}

func open(dir string, cfg Config) (*Store, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	path, fsys := dir, cfg.fs
	if fsys == nil {
		// The engine's lock compares names: there must be one for a directory.
		fsys = vfs.Default
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		var err error
		if path, err = filepath.Abs(dir); err != nil {
			return nil, err
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	db, err := openEngine(path, fsys)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, max: cfg.operationsMax(), db: db}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// begin writes the format into an empty store and checks it in any other. It is
// the first commit, so what has none and is not empty is something else.
func (s *Store) begin() error {
	value, found, err := s.get(formatKey())
	if err != nil {
		return err
	}
	if found {
		return checkFormat(value)
	}
	iter, err := s.db.NewIter(nil)
	if err != nil {
		return err
	}
	empty := !iter.First()
	if err := iter.Close(); err != nil {
		return err
	}
	if !empty {
		return fmt.Errorf("%w: it has keys and no mark", ErrFormat)
	}
	batch := s.db.NewBatch()
	defer batch.Close()
	if err := batch.Set(formatKey(), formatValue(), nil); err != nil {
		return err
	}
	return s.commit(batch)
}

// Close releases the directory. It waits for the calls that are inside. It may
// be called again. All that Save has returned nil for is on disk already.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close fence store %s: %w", s.dir, err)
	}
	return nil
}

// enter admits a call to the engine; on nil s.mu has to be unlocked.
func (s *Store) enter() error {
	s.mu.RLock()
	err := s.failed()
	if s.closed {
		err = ErrClosed
	}
	if err != nil {
		s.mu.RUnlock()
	}
	return err
}

func (s *Store) failed() error {
	s.failure.Lock()
	defer s.failure.Unlock()
	return s.failure.cause
}

// Load implements httpfence.Store. It reads one or two keys. Errors: ErrClosed,
// ErrFailed, ErrDamaged, or the engine's.
func (s *Store) Load(_ context.Context, resource string, operation token.Operation) (httpfence.Kept, error) {
	if err := s.enter(); err != nil {
		return httpfence.Kept{}, err
	}
	defer s.mu.RUnlock()
	f, err := s.fence(resource)
	if err != nil || operation == "" {
		return httpfence.Kept{Highest: f.highest}, err
	}
	kept := httpfence.Kept{Highest: f.highest}
	known, found, err := s.record(resource, operation)
	if err != nil {
		return httpfence.Kept{}, err
	}
	if found {
		kept.Record = &known.Record
	}
	return kept, nil
}

// Save implements httpfence.Store: one batch, synced. After ErrFailed it may
// have been made, and may not; after any other error it was not: ErrClosed,
// ErrDamaged, or the engine's.
func (s *Store) Save(_ context.Context, resource string, change httpfence.Change) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	f, err := s.fence(resource)
	if err != nil {
		return err
	}
	batch := s.db.NewBatch()
	defer batch.Close()
	before := f
	if change.Operation != "" {
		if f, err = s.change(batch, f, resource, change); err != nil {
			return err
		}
	}
	f.highest = max(f.highest, change.Highest)
	if batch.Empty() && f == before {
		return nil // what was not known is forgotten, and leaves nothing
	}
	if err := put(batch, fenceKey(resource), f.encode()); err != nil {
		return err
	}
	return s.commit(batch)
}

// change puts the change of an operation's record into the batch and returns
// the fence as it is then.
func (s *Store) change(batch *pebble.Batch, f fence, resource string, change httpfence.Change) (fence, error) {
	before, found, err := s.record(resource, change.Operation)
	if err != nil {
		return f, err
	}
	if change.Record == nil {
		if !found {
			return f, nil
		}
		if before.number == f.next-1 {
			// An attempt that was not applied must not push out what was, however
			// often it is tried.
			f.next--
		}
		return f, forget(batch, resource, change.Operation, before.number)
	}
	next := record{number: before.number, Record: *change.Record}
	if !found {
		next.number = f.next
		f.next++
		if err := batch.Set(numberKey(resource, next.number), []byte(change.Operation), nil); err != nil {
			return f, err
		}
	}
	if err := put(batch, operationKey(resource, change.Operation), next.encode()); err != nil {
		return f, err
	}
	for ; f.next-f.first > s.max; f.first++ {
		oldest, found, err := s.get(numberKey(resource, f.first))
		if err != nil {
			return f, err
		}
		if found {
			if err := forget(batch, resource, token.Operation(oldest), f.first); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

// forget deletes an operation and its number.
func forget(batch *pebble.Batch, resource string, operation token.Operation, number uint64) error {
	if err := batch.Delete(operationKey(resource, operation), nil); err != nil {
		return err
	}
	return batch.Delete(numberKey(resource, number), nil)
}
