package pebblefence

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/palisade-go/palisade/token"
)

// store is the database as the guard uses it: calls that the engine ends with a
// panic because it is closed return an error, and no call is made after a commit
// has failed.
type store struct {
	db *pebble.DB
	// failure is what went wrong at the first commit that failed. It is set
	// once, and never taken back: the engine shows a commit to readers before it
	// is on disk, so after a failure what can be read may be lost at the next
	// start. An operation that is found then must not be reported as done.
	failure atomic.Pointer[error]
}

func (s *store) fail(cause error) {
	s.failure.CompareAndSwap(nil, &cause)
}

func (s *store) failed() error {
	if cause := s.failure.Load(); cause != nil {
		return fmt.Errorf("%w: %w", ErrFailed, *cause)
	}
	return nil
}

// get returns a copy of the value of key, and whether there is one.
func (s *store) get(key []byte) (value []byte, found bool, err error) {
	if err := s.failed(); err != nil {
		return nil, false, err
	}
	defer func() {
		if r := recover(); r != nil {
			value, found, err = nil, false, closed(r)
		}
	}()
	stored, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("pebblefence: read: %w", err)
	}
	value = append([]byte{}, stored...)
	if err := closer.Close(); err != nil {
		return nil, false, fmt.Errorf("pebblefence: read: %w", err)
	}
	return value, true, nil
}

// commit makes the batch durable, whole or not at all. On token.ErrUnknown, and
// when it leaves by a panic of the engine, it is one of the two; the store then
// has failed. On every other error nothing was applied.
func (s *store) commit(batch *pebble.Batch) (err error) {
	if err := s.failed(); err != nil {
		return err
	}
	returned := false
	defer func() {
		if returned {
			return
		}
		r := recover() // nil if the goroutine exits
		begun := batch.SeqNum() != 0
		if !begun && r != nil {
			err = closed(r)
			return
		}
		// A failed commit goes to the Fatalf of the database's logger, which
		// ends the process, or panics because its owner wants that. So the panic
		// goes on; the note stays for a program that catches it further up, as
		// an HTTP server does.
		s.fail(fmt.Errorf("commit did not return: %v", r))
		if r != nil {
			panic(r)
		}
	}()
	err = s.db.Apply(batch, pebble.Sync)
	returned = true
	if err != nil {
		// The engine returns only what it finds before it begins.
		return fmt.Errorf("pebblefence: nothing was written: %w", err)
	}
	// Apply returns nil also after a Fatalf that returned. What the log said is
	// kept in the batch.
	if err := batch.SyncWait(); err != nil {
		s.fail(err)
		return fmt.Errorf("%w: commit: %w", token.ErrUnknown, err)
	}
	return nil
}

// closed returns the error of a panic with which the engine says that it is
// closed, and panics again with every other.
func closed(r any) error {
	if err, ok := r.(error); ok && errors.Is(err, pebble.ErrClosed) {
		return fmt.Errorf("pebblefence: nothing was written: %w", err)
	}
	panic(r)
}
