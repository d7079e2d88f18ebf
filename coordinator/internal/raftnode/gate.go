package raftnode

import "sync"

// gate keeps calls into the engine from racing its Close, which frees what
// they use without any lock of its own. A call is inside only while it is in
// the engine, never while it waits for an answer, so closing is quick.
type gate struct {
	mu     sync.RWMutex
	closed bool
}

// enter reports whether the engine may be called; if so, leave must follow.
func (g *gate) enter() bool {
	g.mu.RLock()
	if g.closed {
		g.mu.RUnlock()
		return false
	}
	return true
}

func (g *gate) leave() { g.mu.RUnlock() }

// close lets nobody in any more and returns when all who were inside have
// left.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
