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
	// judging counts the judgements of diallers. It grows only with mu held
	// and closed false.
	judging sync.WaitGroup

	// mu is never held while Receive or a function of a Member runs or a Send
	// blocks. It is taken before a link's and a path's mutex, never after.
	mu        sync.Mutex
	closed    bool
	listeners map[string]*memoryListener
	paths     map[direction]*path
	isolated  map[string]struct{}
	// changed is closed, and replaced, when a dial that waits has to look
	// again: a fault was healed or set, or a listener or the network closed.
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

// Listen implements Network. Who dials the listener is not asked for a hello;
// see Join.
func (m *Memory) Listen(addr string, h Handler) (io.Closer, error) { return m.listen(addr, h, nil) }

// listen listens for a member, nil being one that never joined.
func (m *Memory) listen(addr string, h Handler, member *Member) (io.Closer, error) {
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
	ln := &memoryListener{network: m, addr: addr, handler: h, member: member, links: make(map[*memoryLink]struct{})}
	m.listeners[addr] = ln
	return ln, nil
}

// Dial implements Network. It waits only while a black hole swallows its
// request or the answer, and goes on when that is healed. It says no hello; see
// Join.
func (m *Memory) Dial(ctx context.Context, from, to string, kind Kind) (Link, error) {
	return m.dial(ctx, direction{from: from, to: to}, kind, nil)
}

// dial dials for a member, nil being one that never joined.
func (m *Memory) dial(ctx context.Context, way direction, kind Kind, member *Member) (Link, error) {
	if err := checkDial(way.from, way.to, kind); err != nil {
		return nil, err
	}
	d := memoryDial{network: m, member: member, way: way, kind: kind}
	return d.run(ctx)
}

// Close ends the network: every link breaks, every listener closes, dials that
// wait return ErrClosed, and so does every later Listen and Dial. It waits
// until no Receive and no Admit runs, so it must not be called from one. A
// second Close waits alike. It returns nil.
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
	m.judging.Wait()
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
