package raftlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// failure remembers the first thing that went wrong with the disk, for good.
//
// A write or sync that failed is known to its caller. Of a flush or a compaction
// that failed pebble tells nobody: it tries again at once and for ever. Here the
// first failure of either is final.
type failure struct {
	dir string
	log *slog.Logger
	// well ends with the first failure.
	well context.Context
	end  context.CancelFunc

	// writing is how many goroutines are in a call of pebble that may begin a
	// new write-ahead log.
	writing atomic.Int32

	mu      sync.Mutex // guards what follows
	opening bool       // pebble's Open has not returned
	flushed bool       // pebble has begun a flush
	err     error
}

func newFailure(dir string, log *slog.Logger) *failure {
	f := &failure{dir: dir, log: log, opening: true}
	f.well, f.end = context.WithCancel(context.Background())
	return f
}

// get returns the first failure, or nil. It does not wait for the disk.
func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// set records the failure, unless there is one, and returns the one there is.
func (f *failure) set(cause error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.setLocked(cause)
}

func (f *failure) setLocked(cause error) error {
	if f.err == nil {
		f.err = fmt.Errorf("log store %s failed: %w", f.dir, cause)
		f.log.Error("log store failed", "dir", f.dir, "cause", cause)
		f.end()
	}
	return f.err
}

// ofBackground is set for what pebble's own goroutines meet. While pebble's Open
// runs it does not return: Open waits for its flushes and would let one that fails
// try again for ever, so the goroutine is stopped here, and who waits for Open
// goes away with the failure. See openDatabase.
func (f *failure) ofBackground(cause error) error {
	f.mu.Lock()
	err := f.setLocked(cause)
	opening := f.opening
	f.mu.Unlock()
	if opening {
		stop()
	}
	return err
}

// flushes says that pebble has begun a flush.
func (f *failure) flushes() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flushed = true
}

// ofFile returns err, which is from a change of the disk or nil.
//
// When pebble's Open fails after a flush, it closes what the goroutines of that
// flush still use, and the process would end with some fault of the program. So
// Open is stopped here instead.
//
// ofLog says that the change was one of a write-ahead log. When that can't be
// changed for a new one, pebble panics with a mutex that its deferred functions
// unlock once too often, and the process would end without a word of why. So it is
// ended here when that may happen. Otherwise pebble returns the error to whoever
// waits for a sync, and no call gets into pebble after it.
func (f *failure) ofFile(err error, ofLog bool) error {
	if err == nil {
		return nil
	}
	f.mu.Lock()
	switch {
	case f.opening && f.flushed && !errors.Is(err, fs.ErrNotExist):
		_ = f.setLocked(err)
		f.mu.Unlock()
		stop()
	case !f.opening && ofLog:
		failed := f.setLocked(err)
		f.mu.Unlock()
		if f.writing.Load() > 0 {
			end(failed)
		}
	default:
		f.mu.Unlock()
	}
	return err
}

// stopLeftBehind stops the goroutines of a database that openDatabase has left
// behind.
func (f *failure) stopLeftBehind() {
	f.mu.Lock()
	left := f.opening && f.err != nil
	f.mu.Unlock()
	if left {
		stop()
	}
}

// stop ends the work of a goroutine of pebble without letting it go on to clean
// up. It does not return.
func stop() { select {} }

// opened says that pebble's Open has returned. It returns the failure that there
// was meanwhile: then the database is still one to be left behind.
func (f *failure) opened() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opening = f.err != nil
	return f.err
}

// end ends the process by a panic with an error. It does not return. The panic is
// in a goroutine of its own: pebble's deferred functions would wait for locks, or
// fail.
func end(err error) {
	go func() { panic(err) }()
	stop()
}

// listener returns pebble's event listener. Pebble calls it with its mutex held,
// so nothing here may call pebble or wait.
//
// A writer that had passed the check of failure can be held back by pebble until
// a flush or a compaction has made room, which may never happen after one of them
// failed. It can't be woken with an error, and a step worker that hangs silently
// is worse than the end of the process: so a writer that is held back at a failure,
// or comes to be after one, ends it.
func listener(failure *failure, stall *stall) *pebble.EventListener {
	return &pebble.EventListener{
		FlushBegin: func(pebble.FlushInfo) { failure.flushes() },
		BackgroundError: func(cause error) {
			if err := failure.ofBackground(cause); stall.held.Load() {
				end(err)
			}
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			// The default ends the process; the reader gets an error as well.
			failure.set(fmt.Errorf("%w: %s: %w", ErrCorrupt, info.Path, info.Details))
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			stall.set(true)
			failure.log.Warn("log store holds writers back", "dir", failure.dir, "reason", info.Reason)
			if err := failure.get(); err != nil {
				end(err)
			}
		},
		WriteStallEnd: func() { stall.set(false) },
	}
}
