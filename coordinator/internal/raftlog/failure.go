package raftlog

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// failure remembers the first thing that went wrong with the disk, for good.
//
// A write or sync that failed is known to its caller. Of a flush or a compaction
// that failed pebble tells nobody: it tries again at once and for ever. Here the
// first failure of either is final.
type failure struct {
	dir     string
	log     *slog.Logger
	happens chan struct{} // closed by the first call of set
	once    sync.Once
	err     error // written before happens is closed
}

func newFailure(dir string, log *slog.Logger) *failure {
	return &failure{dir: dir, log: log, happens: make(chan struct{})}
}

// get returns the first failure, or nil. It does not block.
func (f *failure) get() error {
	select {
	case <-f.happens:
		return f.err
	default:
		return nil
	}
}

// set records the failure, unless there is one, and returns the one there is.
func (f *failure) set(cause error) error {
	f.once.Do(func() {
		f.err = fmt.Errorf("log store %s failed: %w", f.dir, cause)
		f.log.Error("log store failed", "dir", f.dir, "cause", cause)
		close(f.happens)
	})
	return f.err
}

// listener returns pebble's event listener. Pebble calls it with its mutex held,
// so nothing here may call pebble or wait.
//
// A writer that had passed the check of failure can be held back by pebble until
// a flush or a compaction has made room, which may never happen after one of them
// failed. It can't be woken with an error, and a step worker that hangs silently
// is worse than the end of the process: so a writer that is held back at a failure,
// or comes to be after one, is the reason for a panic.
func listener(failure *failure, stall *stall) *pebble.EventListener {
	fail := func(cause error) {
		err := failure.set(cause)
		if stall.held.Load() {
			panic(err)
		}
	}
	return &pebble.EventListener{
		BackgroundError: fail,
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			// The default ends the process; the reader gets an error as well.
			fail(fmt.Errorf("%w: %s: %w", ErrCorrupt, info.Path, info.Details))
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			stall.set(true)
			failure.log.Warn("log store holds writers back", "dir", failure.dir, "reason", info.Reason)
			if err := failure.get(); err != nil {
				// This is the writer's own goroutine. A panic here could be caught
				// by a deferred Close, which would wait for the locks that the
				// writer holds.
				go func() { panic(err) }()
			}
		},
		WriteStallEnd: func() { stall.set(false) },
	}
}
