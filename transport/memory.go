package transport

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// Memory is a network inside this process. See the package comment for its
// faults; memory_faults.go has the methods. All methods are safe for
// concurrent use.
//
// Each link has one goroutine from Dial until it was closed and has delivered
// what it held, or is broken. Its queue takes 1024 frames and 64 MiB.
type Memory struct {
	seed int64

	// mu is never held while Receive runs or a Send blocks. It is taken
	// before a link's and a path's mutex, never after.
	mu        sync.Mutex
	closed    bool
	listeners map[string]*memoryListener
	paths     map[direction]*path
	isolated  map[string]struct{}
	// changed is closed, and replaced, when a dial that waits has to look
	// again: a fault was healed or set, or the network closed.
	changed chan struct{}
}

var (
	_ Network   = (*Memory)(nil)
	_ Link      = (*memoryLink)(nil)
	_ io.Closer = (*Memory)(nil)
)

// NewMemory returns a network without faults. Everything random in it follows
// from seed. The caller has to Close it.
func NewMemory(seed int64) *Memory {
	return &Memory{
		seed:      seed,
		listeners: make(map[string]*memoryListener),
		paths:     make(map[direction]*path),
		isolated:  make(map[string]struct{}),
		changed:   make(chan struct{}),
	}
}

// Listen implements Network.
func (m *Memory) Listen(addr string, h Handler) (io.Closer, error) {
	if err := checkListen(addr, h); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fmt.Errorf("%w: listen at %q", ErrClosed, addr)
	}
	if m.listeners[addr] != nil {
		return nil, fmt.Errorf("%w: %q", ErrAddressInUse, addr)
	}
	ln := &memoryListener{network: m, addr: addr, handler: h, links: make(map[*memoryLink]struct{})}
	m.listeners[addr] = ln
	return ln, nil
}

// Dial implements Network. It waits only while a black hole swallows its
// request or the answer, and goes on when that is healed.
func (m *Memory) Dial(ctx context.Context, from, to string, kind Kind) (Link, error) {
	if err := checkDial(from, to, kind); err != nil {
		return nil, err
	}
	way := direction{from: from, to: to}
	for held := false; ; held = true {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("transport: dial from %q to %q: %w", from, to, err)
		}
		link, again, err := m.dial(way, kind, held)
		if err != nil {
			return nil, err
		}
		if link != nil {
			return link, nil
		}
		select {
		case <-again:
		case <-ctx.Done():
		}
	}
}

// dial tries once. It returns a link, or an error, or a channel that is closed
// when it is worth trying again. held says that this dial was counted as held.
func (m *Memory) dial(way direction, kind Kind, held bool) (*memoryLink, <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	there, back := m.pathLocked(way), m.pathLocked(way.opposite())
	switch {
	case m.closed:
		return nil, nil, fmt.Errorf("%w: dial from %q to %q", ErrClosed, way.from, way.to)
	case there.isCut():
		there.count(Stats{DialsRefused: 1})
		return nil, nil, fmt.Errorf("%w: from %q to %q: cut", ErrUnreachable, way.from, way.to)
	case there.swallows() || back.swallows():
		if !held {
			there.count(Stats{DialsHeld: 1})
		}
		return nil, m.changed, nil
	}
	ln := m.listeners[way.to]
	if ln == nil || ln.closing {
		return nil, nil, fmt.Errorf("%w: from %q to %q: nobody listens there", ErrUnreachable, way.from, way.to)
	}
	link := newMemoryLink(way, kind, there)
	ln.startLocked(link)
	return link, nil, nil
}

// Close ends the network: every link breaks, every listener closes, dials that
// wait return ErrClosed, and so does every later Listen and Dial. It waits
// until no Receive runs, so it must not be called from one. A second Close
// waits alike. It returns nil.
func (m *Memory) Close() error {
	m.mu.Lock()
	m.closed = true
	m.wakeDialsLocked()
	var open []*memoryListener
	for _, ln := range m.listeners {
		ln.shutLocked()
		open = append(open, ln)
	}
	m.mu.Unlock()
	for _, ln := range open {
		if err := ln.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Stats returns what was counted from one address to the other.
func (m *Memory) Stats(from, to string) Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.paths[direction{from: from, to: to}]; p != nil {
		return p.counted()
	}
	return Stats{}
}

// pathLocked returns the path of a direction and makes it at first use.
func (m *Memory) pathLocked(d direction) *path {
	p := m.paths[d]
	if p == nil {
		p = newPath(m.seed, d)
		p.setIsolated(m.isolatesLocked(d))
		m.paths[d] = p
	}
	return p
}

// isolatesLocked says whether isolation swallows what goes in a direction. An
// address always reaches itself: that way leaves no machine.
func (m *Memory) isolatesLocked(d direction) bool {
	_, from := m.isolated[d.from]
	_, to := m.isolated[d.to]
	return (from || to) && d.from != d.to
}

// wakeDialsLocked makes all dials that wait look again.
func (m *Memory) wakeDialsLocked() {
	close(m.changed)
	m.changed = make(chan struct{})
}
