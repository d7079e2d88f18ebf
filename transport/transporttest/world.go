package transporttest

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

const (
	// waitMax is how long a test waits for what must happen.
	waitMax = 30 * time.Second
	// quiet is how long a test watches that something does not happen. A
	// fault that needs longer to show is missed; a right network never fails
	// by it.
	quiet = 100 * time.Millisecond
)

// world is a network with the few verbs that the rules are written in. Each
// fails the test when it can't do what it says.
type world struct {
	transport.Network
	newAddr func() string
}

// listen listens at addr until the test ends.
func (w world) listen(t *testing.T, addr string, h transport.Handler) io.Closer {
	t.Helper()
	listener, err := w.Listen(addr, h)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	return listener
}

// dial opens a link that is closed when the test ends.
func (w world) dial(t *testing.T, from, to string, kind transport.Kind) transport.Link {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	link, err := w.Dial(ctx, from, to, kind)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, link.Close()) })
	return link
}

// pair listens at a new address and dials it from another.
func (w world) pair(t *testing.T, h transport.Handler) transport.Link {
	t.Helper()
	from, to := w.newAddr(), w.newAddr()
	w.listen(t, to, h)
	return w.dial(t, from, to, transport.Messages)
}

// handler is a transport.Handler of one function.
type handler func(from transport.Peer, kind transport.Kind, frame []byte) error

func (h handler) Receive(from transport.Peer, kind transport.Kind, frame []byte) error {
	return h(from, kind, frame)
}

// arrival is one call of Receive.
type arrival struct {
	peer  transport.Peer
	kind  transport.Kind
	frame []byte
}

// inbox is a handler that hands arrivals to the test, which has to take them:
// a full inbox blocks.
type inbox chan arrival

func newInbox() inbox { return make(inbox, 4096) }

func (in inbox) Receive(from transport.Peer, kind transport.Kind, frame []byte) error {
	in <- arrival{from, kind, frame}
	return nil
}

// named is what most rules look at: who sent what, by address.
type named struct {
	from  string
	kind  transport.Kind
	frame string
}

func (a arrival) named() named { return named{a.peer.Address, a.kind, string(a.frame)} }

// next waits for the next arrival.
func (in inbox) next(t *testing.T) arrival {
	t.Helper()
	return await(t, in, "a frame")
}

// await receives from c.
func await[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case value := <-c:
		return value
	case <-time.After(waitMax):
		require.FailNow(t, "waited too long for "+what)
	}
	var none T
	return none
}

// never watches that nothing comes out of c for a while.
func never[T any](t *testing.T, c <-chan T, what string) {
	t.Helper()
	select {
	case <-c:
		require.FailNow(t, "this must not happen: "+what)
	case <-time.After(quiet):
	}
}

// gate blocks who passes it until it is opened. A test that has a handler
// pass it must open it at its end, before its listeners close: by a Cleanup
// after theirs.
type gate struct {
	entered chan struct{} // one for each that came, up to the capacity
	opened  chan struct{}
	open    func()
}

func newGate() *gate {
	g := &gate{entered: make(chan struct{}, 1024), opened: make(chan struct{})}
	g.open = sync.OnceFunc(func() { close(g.opened) })
	return g
}

// pass blocks until the gate is open.
func (g *gate) pass() {
	select {
	case g.entered <- struct{}{}:
	default:
	}
	<-g.opened
}

// untilError sends frame again and again until the link says that it is of no
// more use, and returns what it said. A network may need a while to notice.
func untilError(t *testing.T, link transport.Link, frame []byte) error {
	t.Helper()
	pause := time.NewTicker(time.Millisecond)
	defer pause.Stop()
	deadline := time.After(waitMax)
	for {
		if err := link.Send(frame); err != nil {
			return err
		}
		select {
		case <-pause.C:
		case <-deadline:
			require.FailNow(t, "the link goes on taking frames")
		}
	}
}

// inBackground runs f and returns a channel with its error.
func inBackground(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}
