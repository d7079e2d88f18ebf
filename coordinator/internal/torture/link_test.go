package torture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// mode says what a link does to the bytes of one direction.
type mode struct {
	kind  modeKind
	delay time.Duration // of slow
}

type modeKind string

const (
	passes    modeKind = "passes"
	stalls    modeKind = "stalls"    // keeps them, and passes them on when it is healed
	swallows  modeKind = "swallows"  // takes them as if they had arrived
	resets    modeKind = "resets"    // breaks connections, old and new
	isSlow    modeKind = "slow"      // passes each piece on after a delay
	pieceMax           = 16 << 10    // bytes of a piece
	dialLimit          = time.Second // of the connection to the real port
)

// linkCounts are counters by which a fault shows that it happened.
type linkCounts struct{ Stalled, Swallowed, Reset, Slowed int }

func (c linkCounts) total() int { return c.Stalled + c.Swallowed + c.Reset + c.Slowed }

// link is how one node reaches another: a proxy for the connections that the
// first one dials. What the second one dials goes by another link.
type link struct {
	from, to int
	listener net.Listener
	target   string
	life     context.Context
	end      context.CancelFunc
	work     sync.WaitGroup

	mu      sync.Mutex
	there   mode          // for what from sends
	back    mode          // for what to answers
	changed chan struct{} // closed and replaced at each change of a mode
	open    map[*passage]struct{}
	counts  linkCounts
}

// passage is one connection through a link.
type passage struct {
	near, far net.Conn // far is nil until it was dialled
	spoilt    bool     // bytes are missing
}

func newLink(from, to int, target string) (*link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{
		from: from, to: to, listener: listener, target: target,
		there: mode{kind: passes}, back: mode{kind: passes},
		changed: make(chan struct{}), open: map[*passage]struct{}{},
	}
	l.life, l.end = context.WithCancel(context.Background())
	l.work.Add(1)
	go l.accept()
	return l, nil
}

func (l *link) address() string { return l.listener.Addr().String() }

// String names the link.
func (l *link) String() string { return fmt.Sprintf("%d>%d", l.from, l.to) }

// set changes what the link does. Connections of which bytes are missing end
// with that: no network delivers what comes after a gap.
func (l *link) set(there, back mode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.there, l.back = there, back
	for p := range l.open {
		if p.spoilt && there.kind != swallows && back.kind != swallows {
			p.reset()
		} else if there.kind == resets || back.kind == resets {
			l.counts.Reset++
			p.reset()
		}
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *link) heal() { l.set(mode{kind: passes}, mode{kind: passes}) }

func (l *link) counted() linkCounts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

func (l *link) close() {
	l.end()
	_ = l.listener.Close()
	l.mu.Lock()
	for p := range l.open {
		p.reset()
	}
	l.mu.Unlock()
	l.work.Wait()
}

// reset ends both connections without a word. Link.mu is held.
func (p *passage) reset() {
	for _, conn := range []net.Conn{p.near, p.far} {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
			_ = tcp.Close()
		}
	}
}

func (l *link) accept() {
	defer l.work.Done()
	for {
		conn, err := l.listener.Accept()
		if l.life.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return
		}
		if err != nil {
			continue // too many files, or a caller that has left again
		}
		p := &passage{near: conn}
		l.mu.Lock()
		if l.there.kind == resets || l.back.kind == resets {
			l.counts.Reset++
			p.reset()
			l.mu.Unlock()
			continue
		}
		l.open[p] = struct{}{}
		l.work.Add(1)
		l.mu.Unlock()
		go l.carry(p)
	}
}

// carry passes a connection on until one side ends.
func (l *link) carry(p *passage) {
	defer l.work.Done()
	defer l.forget(p)
	// The way there decides whether a connection is made at all.
	if pass, err := l.judge(p, true, 0); err != nil || !pass {
		return
	}
	far, err := net.DialTimeout("tcp", l.target, dialLimit)
	if err != nil {
		return
	}
	l.mu.Lock()
	p.far = far
	ended := l.life.Err() != nil
	l.mu.Unlock()
	if ended {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.pump(p, p.far, p.near, false)
	}()
	l.pump(p, p.near, p.far, true)
	<-done
}

func (l *link) forget(p *passage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, p)
	p.reset()
}

// pump copies one direction, and ends the passage with it. That a side has
// ended is held back like its bytes.
func (l *link) pump(p *passage, from, to net.Conn, there bool) {
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		_ = from.Close()
		_ = to.Close()
	}()
	piece := make([]byte, pieceMax)
	for {
		n, err := from.Read(piece)
		pass, ended := l.judge(p, there, n)
		if ended != nil || err != nil && !errors.Is(err, io.EOF) {
			return
		}
		if pass && n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// judge waits until n bytes may go on, and says whether they do. n is zero for
// the beginning and the end of a connection. An error ends the passage.
func (l *link) judge(p *passage, there bool, n int) (pass bool, err error) {
	counted, waited := false, false
	for {
		l.mu.Lock()
		m, changed := l.back, l.changed
		if there {
			m = l.there
		}
		var again <-chan time.Time
		switch m.kind {
		case passes:
			defer l.mu.Unlock()
			return !p.spoilt, nil
		case resets:
			defer l.mu.Unlock()
			return false, net.ErrClosed
		case swallows:
			l.counts.Swallowed += max(n, 1)
			p.spoilt = true
			if n > 0 {
				defer l.mu.Unlock()
				return false, nil
			}
		case stalls:
			if !counted {
				l.counts.Stalled += max(n, 1)
				counted = true
			}
		case isSlow:
			if waited {
				defer l.mu.Unlock()
				return !p.spoilt, nil
			}
			l.counts.Slowed++
			waited = true
			timer := time.NewTimer(m.delay)
			defer timer.Stop()
			again = timer.C
		}
		l.mu.Unlock()
		select {
		case <-changed:
		case <-again:
		case <-l.life.Done():
			return false, l.life.Err()
		}
	}
}

// breakAll resets the connections that are open.
func (l *link) breakAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := range l.open {
		l.counts.Reset++
		p.reset()
	}
}
