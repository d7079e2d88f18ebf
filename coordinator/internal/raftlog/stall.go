package raftlog

import "sync/atomic"

// stall is whether pebble holds writers back because its flushes or compactions
// do not keep up. The engine refuses proposals meanwhile (ErrSystemBusy), instead
// of queueing them behind a step worker that stands still.
//
// The engine is told from a goroutine of its own. Pebble's events come with its
// mutex held, and what the engine does with the news waits for a mutex that
// NodeHost.RemoveData holds while it writes here: told directly, a writer that is
// held back would wait for the end of its own stall.
type stall struct {
	held    atomic.Bool
	changed chan struct{} // has room for one
	stop    chan struct{}
	done    chan struct{} // nil until tell; closed when its goroutine has ended
}

func newStall() *stall {
	return &stall{changed: make(chan struct{}, 1), stop: make(chan struct{})}
}

// set never blocks.
func (s *stall) set(held bool) {
	s.held.Store(held)
	select {
	case s.changed <- struct{}{}:
	default: // the goroutine has not yet looked at the last change
	}
}

// tell calls fn with each change that lasts, one after the other, until close. It
// must be called once at most. fn may block.
func (s *stall) tell(fn func(held bool)) {
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		for told := false; ; {
			select {
			case <-s.stop:
				return
			case <-s.changed:
			}
			if held := s.held.Load(); held != told {
				told = held
				fn(held)
			}
		}
	}()
}

// close waits for a call of fn that runs. It must be called once.
func (s *stall) close() {
	close(s.stop)
	if s.done != nil {
		<-s.done
	}
}
