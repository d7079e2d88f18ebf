package transport_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// weakListener fails to accept for as long as it is told to.
type weakListener struct {
	net.Listener
	failing atomic.Bool
	failed  atomic.Int32
}

func (w *weakListener) Accept() (net.Conn, error) {
	if w.failing.Load() {
		w.failed.Add(1)
		return nil, syscall.EMFILE
	}
	return w.Listener.Accept()
}

func listenWeakly(t *testing.T, network *transport.TCP, h transport.Handler) (*weakListener, io.Closer) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	weak := &weakListener{Listener: inner}
	weak.failing.Store(true)
	listener, err := network.ListenOn(weak, inner.Addr().String(), h)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	return weak, listener
}

func TestAcceptThatFails(t *testing.T) {
	t.Run("IsTriedAgainAfterAPause", func(t *testing.T) {
		cfg := plain(1)
		logger, log := newJournal()
		cfg.Logger = logger
		network := newTCP(t, cfg)
		in := make(inbox, 1)
		begin := time.Now()
		weak, _ := listenWeakly(t, network, in)
		eventually(t, func() bool { return weak.failed.Load() >= 5 }, "it fails again and again")
		require.GreaterOrEqual(t, time.Since(begin), (5+10+20+40)*time.Millisecond, "with longer and longer pauses")
		weak.failing.Store(false)
		requireLink(t, network, weak.Addr().String(), in, "hello")
		require.Equal(t, 1, log.count("transport: no connection could be accepted; trying again"))
	})
	t.Run("DoesNotHoldUpAClose", func(t *testing.T) {
		weak, listener := listenWeakly(t, newTCP(t, plain(1)), make(inbox))
		eventually(t, func() bool { return weak.failed.Load() >= 1 }, "it fails")
		require.NoError(t, listener.Close())
	})
}

func TestAnAddressIsInUseUntilItsReceivesHaveReturned(t *testing.T) {
	network := newTCP(t, plain(1))
	entered, leave := make(chan struct{}), make(chan struct{})
	addr := freeAddress(t)
	first, err := network.Listen(addr, handler(func([]byte) error { close(entered); <-leave; return nil }))
	require.NoError(t, err)
	link, err := dialTCP(t, network, addr)
	require.NoError(t, err)
	send(t, link, "block")
	<-entered
	closed := make(chan error, 1)
	go func() { closed <- first.Close() }()
	eventually(t, func() bool { return link.Send(nil) != nil }, "the listener closes")
	_, err = network.Listen(addr, make(inbox))
	require.ErrorIs(t, err, transport.ErrAddressInUse)
	close(leave)
	require.NoError(t, <-closed)
	second, err := network.Listen(addr, make(inbox))
	require.NoError(t, err)
	require.NoError(t, second.Close())
}

func TestCheckListenSaysWhatListenWould(t *testing.T) {
	network := newTCP(t, plain(1))
	addr := freeAddress(t)
	require.NoError(t, transport.CheckListen(context.Background(), addr))
	listener, err := network.Listen(addr, make(inbox))
	require.NoError(t, err, "the port was given back")
	err = transport.CheckListen(context.Background(), addr)
	require.ErrorIs(t, err, transport.ErrAddressInUse)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.ErrorContains(t, err, addr)
	require.NoError(t, listener.Close())
	require.NoError(t, transport.CheckListen(context.Background(), addr))
	require.ErrorIs(t, transport.CheckListen(context.Background(), "no port"), transport.ErrInvalid)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	require.Error(t, transport.CheckListen(cancelled, "name.invalid:7400"))
}

func TestWhatAClosingListenerHoldsIsLost(t *testing.T) {
	network := newTCP(t, plain(1))
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	listener, err := network.Listen("127.0.0.1:0", handler(func([]byte) error { entered <- struct{}{}; <-leave; return nil }))
	require.NoError(t, err)
	addr := listener.(interface{ Addr() net.Addr }).Addr().String()
	s := call(t, addr)
	s.join(2)
	var frames []byte
	for range 10 {
		frames = transport.AppendFrame(frames, nil)
	}
	s.say(frames) // at once, so that the reader has them all
	<-entered
	closed := make(chan error, 1)
	go func() { closed <- listener.Close() }()
	s.hearEnd()
	close(leave)
	require.NoError(t, <-closed)
	require.Empty(t, entered, "a frame was delivered after the listener had begun to close")
}

func TestANodeHasABoundedNumberOfLinks(t *testing.T) {
	require.Equal(t, 128, transport.InletsMax)
	told := make(refusals, 1)
	cfg := plain(1)
	cfg.Refusals = told.hook
	in := make(inbox, 1)
	addr := serve(t, newTCP(t, cfg), "127.0.0.1", in)
	greedy, modest := newTCP(t, plain(2)), newTCP(t, plain(3))
	var last transport.Link
	for range transport.InletsMax {
		link, err := dialTCP(t, greedy, addr)
		require.NoError(t, err)
		last = link
	}
	_, err := dialTCP(t, greedy, addr)
	var refused *transport.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, transport.CodeLinks, refused.Code)
	require.Contains(t, refused.Reason, "node 2 has 128 links to this listener already")
	require.Equal(t, transport.CodeLinks, told.next(t).Code)
	requireLink(t, modest, addr, in, "others have their own")

	require.NoError(t, last.Close())
	eventually(t, func() bool {
		select {
		case <-told:
		default:
		}
		_, err := dialTCP(t, greedy, addr)
		return err == nil
	}, "one that ended makes room")
}

func TestTCPClose(t *testing.T) {
	t.Run("EndsListenersAndLinks", func(t *testing.T) {
		network, other := newTCP(t, plain(1)), newTCP(t, plain(2))
		in, inOther := make(inbox, 1), make(inbox, 1)
		addr, addrOther := serve(t, network, "127.0.0.1", in), serve(t, other, "127.0.0.1", inOther)
		out := requireLink(t, network, addrOther, inOther, "out")
		into := requireLink(t, other, addr, in, "in")
		require.NoError(t, network.Close())
		require.ErrorIs(t, out.Send(nil), transport.ErrBroken)
		eventually(t, func() bool { return into.Send(nil) != nil }, "the other side notices")
		require.ErrorIs(t, into.Send(nil), transport.ErrBroken)
		_, err := dialTCP(t, other, addr)
		require.ErrorIs(t, err, transport.ErrUnreachable)
		_, err = network.Listen("127.0.0.1:0", in)
		require.ErrorIs(t, err, transport.ErrClosed)
		_, err = network.Dial(context.Background(), "a:1", addrOther, transport.Messages)
		require.ErrorIs(t, err, transport.ErrClosed)
		require.NoError(t, network.Close(), "a second time")
	})
	t.Run("EndsHandshakes", func(t *testing.T) {
		cfg := plain(1)
		cfg.Handshake = time.Hour
		network := newTCP(t, cfg)
		s := call(t, serve(t, network, "127.0.0.1", make(inbox)))
		s.say(preface(transport.Messages), helloFrame(hello(2)))
		s.hearHello()
		require.Nil(t, s.hearAnswer())
		require.NoError(t, network.Close())
		s.hearEnd()
	})
	t.Run("WaitsForDials", func(t *testing.T) {
		asked, let := make(chan struct{}), make(chan struct{})
		cfg := plain(1)
		cfg.Admit = func(transport.Peer) error { close(asked); <-let; return nil }
		network := newTCP(t, cfg)
		addr := serve(t, newTCP(t, plain(2)), "127.0.0.1", make(inbox))
		dialled := make(chan error, 1)
		go func() {
			_, err := network.Dial(context.Background(), "a:1", addr, transport.Messages)
			dialled <- err
		}()
		<-asked
		closed := make(chan error, 1)
		go func() { closed <- network.Close() }()
		require.ErrorIs(t, <-dialled, transport.ErrClosed)
		select {
		case <-closed:
			t.Error("Close returned while Admit ran")
		case <-time.After(50 * time.Millisecond):
		}
		close(let)
		require.NoError(t, <-closed)
	})
	t.Run("WaitsForReceive", func(t *testing.T) {
		network := newTCP(t, plain(1))
		entered, leave := make(chan struct{}), make(chan struct{})
		var left atomic.Bool
		addr := serve(t, network, "127.0.0.1", handler(func([]byte) error {
			close(entered)
			<-leave
			left.Store(true)
			return nil
		}))
		link, err := dialTCP(t, network, addr)
		require.NoError(t, err)
		send(t, link, "held")
		<-entered
		closed := make(chan error, 1)
		go func() { closed <- network.Close() }()
		select {
		case <-closed:
			t.Error("Close returned while Receive ran")
		case <-time.After(50 * time.Millisecond):
		}
		close(leave)
		require.NoError(t, <-closed)
		require.True(t, left.Load())
	})
}
