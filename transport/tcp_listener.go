package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// acceptPauseMin and acceptPauseMax bound the pause after an Accept that
	// failed, as it does while the process has no file descriptors left.
	acceptPauseMin = 5 * time.Millisecond
	acceptPauseMax = time.Second
	// inletsMax is how many links one node may have to a listener. It is a
	// bound on what a node gone wrong can do: a right one has a few.
	inletsMax = 128
)

// tcpListener is the receiving end at one address of a TCP. Every link belongs
// to the listener that it reached.
type tcpListener struct {
	network *TCP
	addr    string // as it was asked for
	inner   net.Listener
	handler Handler
	lobby   lobby
	// ending ends when the listener begins to close.
	ending context.Context
	end    context.CancelFunc
	// running counts the accept loop and the connections. It grows only in
	// the loop, which is itself counted.
	running sync.WaitGroup

	mu     sync.Mutex
	inlets map[*inlet]struct{}
	count  map[uint64]int // links and handshakes about to be links, by node
}

// Listen implements Network. addr is host:port; an empty host means all
// interfaces, a name is looked up once, for at most the time of a handshake,
// and its first address is taken. With port 0 the system chooses a port; the
// result has a method Addr() net.Addr that tells.
func (t *TCP) Listen(addr string, h Handler) (io.Closer, error) {
	if err := checkListen(addr, h); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(t.ending, t.cfg.Handshake)
	defer cancel()
	if t.ending.Err() != nil {
		return nil, fmt.Errorf("%w: listen at %q", ErrClosed, addr)
	}
	inner, err := bind(ctx, addr)
	if err != nil {
		return nil, err
	}
	return t.listenOn(inner, addr, h)
}

// CheckListen returns what a Listen of TCP at addr would fail with now, as
// when another process has the port; nil: it would not. It takes the port for a
// moment and gives it back, so somebody else may be first all the same. It
// blocks only to look a host name up, until ctx ends.
//
// Errors: ErrAddressInUse, ErrInvalid, the system's; all name addr.
func CheckListen(ctx context.Context, addr string) error {
	inner, err := bind(ctx, addr)
	if err != nil {
		return err
	}
	return inner.Close()
}

// bind takes the port.
func bind(ctx context.Context, addr string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf("%w: listen: %w", ErrInvalid, err)
	}
	// The options of the socket are inherited by what it accepts, where the
	// system does that; they are set again there.
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	inner, err := config.Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: %q: %w", ErrAddressInUse, addr, err)
	}
	if err != nil {
		return nil, fmt.Errorf("transport: listen at %q: %w", addr, err)
	}
	return inner, nil
}

// listenOn takes connections from inner.
func (t *TCP) listenOn(inner net.Listener, addr string, h Handler) (io.Closer, error) {
	ln := &tcpListener{
		network: t, addr: addr, inner: inner, handler: h,
		inlets: make(map[*inlet]struct{}), count: make(map[uint64]int),
	}
	ln.ending, ln.end = context.WithCancel(t.ending)
	t.mu.Lock()
	defer t.mu.Unlock()
	bound := inner.Addr().String()
	err := error(nil)
	switch {
	case t.closed:
		err = fmt.Errorf("%w: listen at %q", ErrClosed, addr)
	case t.listeners[bound] != nil:
		// It has let go of the port and waits for a Receive to return: the
		// handlers of two listeners never run at the same time.
		err = fmt.Errorf("%w: %q", ErrAddressInUse, addr)
	}
	if err != nil {
		ln.end()
		inner.Close()
		return nil, err
	}
	t.listeners[bound] = ln
	ln.running.Add(1)
	go ln.accept()
	return ln, nil
}

// Addr returns what the listener is bound to.
func (ln *tcpListener) Addr() net.Addr { return ln.inner.Addr() }

// Close implements what Network.Listen says of it.
func (ln *tcpListener) Close() error {
	ln.shut()
	ln.running.Wait()

	t := ln.network
	t.mu.Lock()
	defer t.mu.Unlock()
	// A second Close may come when the address already has its next listener.
	if bound := ln.inner.Addr().String(); t.listeners[bound] == ln {
		delete(t.listeners, bound)
	}
	return nil
}

// shut takes no more connections and breaks those there are.
func (ln *tcpListener) shut() {
	ln.end()
	ln.inner.Close()
	ln.lobby.close()
	ln.mu.Lock()
	defer ln.mu.Unlock()
	for in := range ln.inlets {
		in.session.raw.Close()
	}
}

// accept takes connections until the listener closes. No error ends it.
func (ln *tcpListener) accept() {
	defer ln.running.Done()
	pause := time.Duration(0)
	for {
		conn, err := ln.inner.Accept()
		if ln.ending.Err() != nil {
			if err == nil {
				conn.Close()
			}
			return
		}
		if err != nil {
			pause = min(max(2*pause, acceptPauseMin), acceptPauseMax)
			ln.network.warn("accept", "no connection could be accepted; trying again", "listener", ln.addr, "err", err)
			if !wait(ln.ending, pause) {
				return
			}
			continue
		}
		pause = 0
		v, expelled := ln.lobby.enter(conn)
		if expelled != nil {
			ln.network.warn("lobby", "too many connections are in their handshake; the oldest of the busiest source is closed",
				"listener", ln.addr, "source", expelled.source)
		}
		if v == nil {
			return
		}
		ln.running.Add(1)
		go func() {
			defer ln.running.Done()
			ln.serve(v)
		}()
	}
}

// wait returns true after a pause, false at once when ctx ends.
func wait(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// serve takes a connection through its handshake and to its end.
func (ln *tcpListener) serve(v *visitor) {
	s := newSession(v.conn, Peer{Accepted: true})
	deadline := time.Now().Add(ln.network.cfg.Handshake)
	reserved, err := ln.greet(s, deadline)
	if reserved {
		defer ln.release(s.peer.Node)
	}
	if err != nil {
		ln.refused(s, v, err)
		s.part(deadline)
		ln.lobby.leave(v)
		return
	}
	in := &inlet{session: s, listener: ln}
	// It is among the inlets before it is out of the lobby, so that shut
	// finds it in one of them.
	ln.mu.Lock()
	ln.inlets[in] = struct{}{}
	ln.mu.Unlock()
	if ln.lobby.leave(v) {
		in.run()
	}
	ln.mu.Lock()
	delete(ln.inlets, in)
	ln.mu.Unlock()
	s.raw.Close()
}

// greet makes the handshake. reserved says that a link was counted for the
// peer.
func (ln *tcpListener) greet(s *session, deadline time.Time) (reserved bool, err error) {
	t := ln.network
	if err := s.raw.SetDeadline(deadline); err != nil {
		return false, err
	}
	if err := setSocket(s.raw, t.cfg.Stall); err != nil {
		return false, err
	}
	if err := s.secureAccepted(ln.ending, t.files); err != nil {
		return false, err
	}
	err = s.greetAccepted(t.cfg.Self, func() *RefusedError {
		if refused := s.judge(t.cfg.Member, t.cfg.ClusterName); refused != nil {
			return refused
		}
		if reserved = ln.reserve(s.peer.Node); !reserved {
			return refuse(s.peer, CodeLinks, "node %d has %d links to this listener already", s.peer.Node, inletsMax)
		}
		return nil
	})
	if err != nil {
		return reserved, err
	}
	return reserved, s.raw.SetDeadline(time.Time{})
}

// refused tells of a handshake that failed.
func (ln *tcpListener) refused(s *session, v *visitor, err error) {
	t := ln.network
	var refused *RefusedError
	if errors.As(err, &refused) {
		t.warn(fmt.Sprint("refused ", refused.ByPeer, min(refused.Code, CodeAdmit)), "a connection was refused",
			"listener", ln.addr, "peer", refused.Peer, "byPeer", refused.ByPeer, "code", refused.Code, "reason", refused.Reason)
		t.cfg.Refusals(refused)
		return
	}
	// The others ended by themselves: a dial that was given up, a probe that
	// only wants to know whether somebody listens, or one that lost its place.
	t.cfg.Logger.Debug("transport: a connection ended in its handshake", "listener", ln.addr, "remote", v.conn.RemoteAddr(), "err", err)
}

// reserve counts a link of a node, unless it has too many.
func (ln *tcpListener) reserve(node uint64) bool {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.count[node] >= inletsMax {
		return false
	}
	ln.count[node]++
	return true
}

func (ln *tcpListener) release(node uint64) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.count[node]--; ln.count[node] == 0 {
		delete(ln.count, node)
	}
}
