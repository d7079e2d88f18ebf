package pebblestore

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// failure remembers the first thing that went wrong in the engine's background.
//
// The engine tries a failed flush or compaction again at once and for ever, and
// tells nobody: a caller of its Flush would wait for ever too. Here the first
// failure is final instead. Commits and flushes return it, the Raft engine ends
// the process, and the log is replayed at the next start.
type failure struct {
	dir     string
	log     *slog.Logger
	happens chan struct{} // closed by the first call of set
	once    sync.Once
	err     error       // written before happens is closed
	stalled atomic.Bool // the engine holds a writer back
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

func (f *failure) set(cause error) {
	f.once.Do(func() {
		f.err = fmt.Errorf("lock store %s failed: %w", f.dir, cause)
		f.log.Error("lock store failed", "dir", f.dir, "cause", cause)
		close(f.happens)
	})
}

// fail records the failure. A writer that had passed the check of it before can
// be held back by the engine until a flush or a compaction has made room, which
// may never happen now. It can't be woken with an error, and an apply loop that
// hangs silently is worse than the end of the process: so fail panics when a
// writer is held back, and a writer that comes to be held back later finds the
// failure.
func (f *failure) fail(cause error) {
	f.set(cause)
	if f.stalled.Load() {
		panic(f.err)
	}
}

// listener returns the engine's event listener. The engine calls it with its
// mutex held, so nothing here may call the engine or wait.
func (f *failure) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: f.fail,
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			// The default ends the process; the reader gets an error as well.
			f.fail(fmt.Errorf("%w: %s: %w", ErrCorrupt, info.Path, info.Details))
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			f.stalled.Store(true)
			f.log.Warn("lock store holds commits back", "dir", f.dir, "reason", info.Reason)
			if err := f.get(); err != nil {
				// This is the writer's own goroutine. A panic here could be
				// caught by a deferred Close, which would wait for the locks
				// that the writer holds.
				go func() { panic(err) }()
			}
		},
		WriteStallEnd: func() {
			f.stalled.Store(false)
		},
	}
}
