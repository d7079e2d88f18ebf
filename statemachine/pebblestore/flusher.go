package pebblestore

import (
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// flusher makes commits durable. Calls that come while a flush runs share the
// next one, so that the groups of a node, which sync at about the same time,
// cost two flushes and not one each.
type flusher struct {
	db      *pebble.DB
	failure *failure

	// commits counts the batches that the engine has accepted. A batch is
	// counted before its commit returns, so a caller's own commits are among
	// those that it reads.
	commits atomic.Uint64

	mu struct {
		sync.Mutex
		durable uint64  // commits known to be on disk. Invariant: <= commits
		running *flight // nil: none
		next    *flight // not started; waits for running. nil: none
	}
}

// flight is one flush and those who wait for it.
type flight struct {
	done chan struct{} // closed when err is set
	err  error
}

// flush returns nil when every commit that returned before the call is durable.
// It blocks for one or two flushes of the engine; it costs nothing when there
// was no commit since the last.
func (f *flusher) flush() error {
	f.mu.Lock()
	if f.mu.durable >= f.commits.Load() {
		f.mu.Unlock()
		return nil
	}
	if own := f.mu.next; own != nil {
		f.mu.Unlock()
		<-own.done
		return own.err
	}
	own := &flight{done: make(chan struct{})}
	previous := f.mu.running
	f.mu.next = own
	f.mu.Unlock()

	if previous != nil {
		<-previous.done
	}
	own.err = f.fly(own)
	close(own.done)
	return own.err
}

// fly starts the flight and waits for its end. Only commits counted before the
// engine was asked are taken as durable; those who joined the flight made
// theirs before that, because nobody joins a flight that has started.
func (f *flusher) fly(own *flight) error {
	f.mu.Lock()
	f.mu.next, f.mu.running = nil, own
	target := f.commits.Load()
	done := f.mu.durable >= target
	f.mu.Unlock()

	var err error
	if !done {
		err = f.toDisk()
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.running = nil
	if err == nil {
		f.mu.durable = target
	}
	return err
}

// toDisk returns nil when everything in the engine's memory at the call is on
// disk and synced.
func (f *flusher) toDisk() error {
	if err := f.failure.get(); err != nil {
		return err
	}
	flushed, err := f.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
		return nil
	case <-f.failure.happens:
		return f.failure.err
	}
}
