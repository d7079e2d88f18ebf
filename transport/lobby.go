package transport

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// lobbyMax is how many connections of a listener may be in their handshake.
const lobbyMax = 128

// lobby holds the connections of a listener that are in their handshake, the
// oldest first. One that comes when it is full takes the place of another: the
// oldest of the source, an IPv4 address or an IPv6 /64, that has the most
// here. So a flood from some machines crowds out its own connections and not
// those of the other nodes; and where all come from one address, a handshake
// has the time in which lobbyMax others arrive.
//
// Refusing the newcomer instead would let lobbyMax silent clients shut the
// listener until their deadlines.
//
// Its methods are safe for concurrent use.
type lobby struct {
	mu       sync.Mutex
	closed   bool
	visitors []*visitor
}

// visitor is one connection in its handshake.
type visitor struct {
	conn   net.Conn
	source netip.Prefix
	gone   bool // it has lost its place; guarded by lobby.mu
}

// enter takes a connection in. It returns who lost the place for it, whose
// connection it has closed, or nil; and a nil visitor, with conn closed, when
// the lobby is closed.
func (l *lobby) enter(conn net.Conn) (entered, expelled *visitor) {
	v := &visitor{conn: conn, source: sourceOf(conn.RemoteAddr())}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		conn.Close()
		return nil, nil
	}
	if len(l.visitors) >= lobbyMax {
		expelled = l.expelLocked()
	}
	l.visitors = append(l.visitors, v)
	return v, expelled
}

// expelLocked makes room for one.
func (l *lobby) expelLocked() *visitor {
	count := make(map[netip.Prefix]int)
	for _, v := range l.visitors {
		count[v.source]++
	}
	at := 0
	for i, v := range l.visitors {
		if count[v.source] > count[l.visitors[at].source] {
			at = i
		}
	}
	v := l.visitors[at]
	l.visitors = slices.Delete(l.visitors, at, at+1)
	v.gone = true
	v.conn.Close()
	return v
}

// leave takes out a visitor whose handshake has ended. It returns false if it
// had lost its place before, so its connection is closed.
func (l *lobby) leave(v *visitor) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.Index(l.visitors, v); at >= 0 {
		l.visitors = slices.Delete(l.visitors, at, at+1)
	}
	return !v.gone
}

// close takes nobody in any more and closes the connections of those inside.
func (l *lobby) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, v := range l.visitors {
		v.gone = true
		v.conn.Close()
	}
	l.visitors = nil
}

// sourceOf returns what one machine can easily have many addresses of as one.
func sourceOf(addr net.Addr) netip.Prefix {
	var from netip.Addr
	if tcp, ok := addr.(*net.TCPAddr); ok {
		from = tcp.AddrPort().Addr().Unmap().WithZone("")
	}
	bits := 32
	if from.Is6() {
		bits = 64
	}
	prefix, err := from.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // no address: these are one source together
	}
	return prefix
}
