package transporttest

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// listenRules are about listeners.
var listenRules = []rule{
	{"AnAddressHasOneListener", oneListener},
	{"ListenRefusesBadArguments", badListens},
	{"ClosingAListenerBreaksItsLinks", closeBreaks},
	{"ClosingAListenerWaitsForReceive", closeWaits},
	{"NoReceiveBeginsAfterAListenerHasClosed", noneAfterClose},
	{"ASecondCloseOfAListenerIsHarmless", secondListenerClose},
	{"AnAddressCanBeListenedOnAgain", listenAgain},
	{"ClosingAListenerLeavesOthersAlone", othersStay},
}

func oneListener(t *testing.T, w world) {
	in := newInbox()
	from, to := w.newAddr(), w.newAddr()
	w.listen(t, to, in)
	second, err := w.Listen(to, newInbox())
	require.ErrorIs(t, err, transport.ErrAddressInUse)
	require.ErrorContains(t, err, to, "the error names the address")
	require.Nil(t, second)
	require.NoError(t, w.dial(t, from, to, transport.Messages).Send([]byte("first")))
	require.Equal(t, "first", string(in.next(t).frame), "the first listener is as before")
}

func badListens(t *testing.T, w world) {
	for _, arguments := range []struct {
		addr string
		h    transport.Handler
	}{{"", newInbox()}, {w.newAddr(), nil}} {
		listener, err := w.Listen(arguments.addr, arguments.h)
		require.ErrorIs(t, err, transport.ErrInvalid)
		require.Nil(t, listener)
	}
}

func closeBreaks(t *testing.T, w world) {
	in := newInbox()
	from, to := w.newAddr(), w.newAddr()
	listener := w.listen(t, to, in)
	links := []transport.Link{w.dial(t, from, to, transport.Messages), w.dial(t, from, to, transport.Chunks)}
	for _, link := range links {
		require.NoError(t, link.Send([]byte("before")))
		in.next(t)
	}
	require.NoError(t, listener.Close())
	for _, link := range links {
		require.ErrorIs(t, untilError(t, link, []byte("after")), transport.ErrBroken)
	}
}

func closeWaits(t *testing.T, w world) {
	shut := newGate()
	from, to := w.newAddr(), w.newAddr()
	var finished atomic.Bool
	listener := w.listen(t, to, handler(func(transport.Peer, transport.Kind, []byte) error {
		shut.pass()
		finished.Store(true)
		return nil
	}))
	t.Cleanup(shut.open)
	require.NoError(t, w.dial(t, from, to, transport.Messages).Send([]byte("held")))
	await(t, shut.entered, "Receive")
	closes := []<-chan error{inBackground(listener.Close), inBackground(listener.Close)}
	for _, closed := range closes {
		never(t, closed, "Close returns while Receive runs")
	}
	shut.open()
	for _, closed := range closes {
		require.NoError(t, await(t, closed, "Close"))
		require.True(t, finished.Load(), "Close returned before Receive")
	}
}

func noneAfterClose(t *testing.T, w world) {
	const links = 4
	from, to := w.newAddr(), w.newAddr()
	var closed atomic.Bool
	under := make(chan struct{}, 1)
	listener := w.listen(t, to, handler(func(transport.Peer, transport.Kind, []byte) error {
		if closed.Load() {
			t.Error("Receive was called after the listener had closed")
		}
		select {
		case under <- struct{}{}:
		default:
		}
		return nil
	}))
	var senders []<-chan error
	for range links {
		link := w.dial(t, from, to, transport.Messages)
		senders = append(senders, inBackground(func() error {
			for {
				if err := link.Send([]byte("frame")); err != nil {
					return err
				}
			}
		}))
	}
	for range 20 {
		await(t, under, "traffic")
	}
	require.NoError(t, listener.Close())
	closed.Store(true)
	for _, ended := range senders {
		require.ErrorIs(t, await(t, ended, "a sender"), transport.ErrBroken)
	}
}

func secondListenerClose(t *testing.T, w world) {
	to := w.newAddr()
	listener := w.listen(t, to, newInbox())
	require.NoError(t, listener.Close())
	require.NoError(t, listener.Close())

	in := newInbox()
	w.listen(t, to, in)
	require.NoError(t, listener.Close(), "and does not reach the next listener")
	require.NoError(t, w.dial(t, w.newAddr(), to, transport.Messages).Send([]byte("still there")))
	in.next(t)
}

func listenAgain(t *testing.T, w world) {
	from, to := w.newAddr(), w.newAddr()
	old := newInbox()
	listener := w.listen(t, to, old)
	oldLink := w.dial(t, from, to, transport.Messages)
	require.NoError(t, oldLink.Send([]byte("old")))
	old.next(t)
	require.NoError(t, listener.Close())

	in := newInbox()
	w.listen(t, to, in)
	require.ErrorIs(t, untilError(t, oldLink, []byte("over the old link")), transport.ErrBroken)
	require.NoError(t, w.dial(t, from, to, transport.Messages).Send([]byte("new")))
	require.Equal(t, "new", string(in.next(t).frame), "a link does not go over to the next listener")
	never(t, old, "the old handler is called")
}

func othersStay(t *testing.T, w world) {
	in := newInbox()
	from, a, b := w.newAddr(), w.newAddr(), w.newAddr()
	closing := w.listen(t, a, newInbox())
	w.listen(t, b, in)
	link := w.dial(t, from, b, transport.Messages)
	fromClosing := w.dial(t, a, b, transport.Messages)
	require.NoError(t, closing.Close())
	require.NoError(t, link.Send([]byte("one")))
	require.Equal(t, "one", string(in.next(t).frame))
	require.NoError(t, fromClosing.Send([]byte("two")))
	require.Equal(t, "two", string(in.next(t).frame), "what an address has dialled does not end with its listener")
}
