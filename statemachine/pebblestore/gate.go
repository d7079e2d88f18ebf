package pebblestore

import "sync"

// gate counts the calls that are inside the engine, which must not be closed
// under them: the engine panics when it is used after its end.
type gate struct {
	mu struct {
		sync.Mutex
		inside int
		shut   bool
	}
	closing chan struct{} // closed by shut: long calls end early
	idle    chan struct{} // closed when shut and nobody is inside
}

func newGate() *gate {
	return &gate{closing: make(chan struct{}), idle: make(chan struct{})}
}

// enter returns ErrClosed once shut was called. After nil, the caller must call
// leave once.
func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mu.shut {
		return ErrClosed
	}
	g.mu.inside++
	return nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mu.inside--
	if g.mu.shut && g.mu.inside == 0 {
		close(g.idle)
	}
}

// shut refuses new calls and waits until those inside have left. It must be
// called once.
func (g *gate) shut() {
	g.mu.Lock()
	g.mu.shut = true
	close(g.closing)
	if g.mu.inside == 0 {
		close(g.idle)
	}
	g.mu.Unlock()
	<-g.idle
}

// check returns ErrStopped when stop is closed, ErrClosed when the gate is
// being shut, else nil. It does not block; a nil stop never stops.
func (g *gate) check(stop <-chan struct{}) error {
	select {
	case <-stop:
		return ErrStopped
	case <-g.closing:
		return ErrClosed
	default:
		return nil
	}
}
