package transporttest

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// endRules are about how links end.
var endRules = []rule{
	{"FramesSentBeforeCloseArrive", closeDelivers},
	{"CloseDoesNotWaitForTheReceiver", closeDoesNotWait},
	{"SendAfterCloseFails", sendAfterClose},
	{"ASecondCloseOfALinkIsHarmless", secondClose},
	{"AnErrorOfReceiveBreaksThatLinkOnly", receiveBreaks},
	{"ABrokenLinkStaysBrokenAndANewOneWorks", dialAgain},
}

func closeDelivers(t *testing.T, w world) {
	const frames = 300
	shut := newGate()
	in := newInbox()
	link := w.pair(t, handler(func(from transport.Peer, kind transport.Kind, frame []byte) error {
		shut.pass()
		return in.Receive(from, kind, frame)
	}))
	t.Cleanup(shut.open)
	for number := range frames {
		require.NoError(t, link.Send(numbered(0, number)))
	}
	require.NoError(t, link.Close())
	shut.open()
	for number := range frames {
		require.Equal(t, numbered(0, number), in.next(t).frame)
	}
}

func closeDoesNotWait(t *testing.T, w world) {
	shut := newGate()
	link := w.pair(t, handler(func(transport.Peer, transport.Kind, []byte) error { shut.pass(); return nil }))
	t.Cleanup(shut.open)
	require.NoError(t, link.Send([]byte("held")))
	await(t, shut.entered, "Receive")
	require.NoError(t, await(t, inBackground(link.Close), "Close while Receive blocks"))
}

func sendAfterClose(t *testing.T, w world) {
	in := newInbox()
	link := w.pair(t, in)
	require.NoError(t, link.Send([]byte("before")))
	require.NoError(t, link.Close())
	require.ErrorIs(t, link.Send([]byte("after")), transport.ErrClosed)
	require.Equal(t, "before", string(in.next(t).frame))
	never(t, in, "a frame that was refused arrives")
}

func secondClose(t *testing.T, w world) {
	refuse := handler(func(transport.Peer, transport.Kind, []byte) error { return errors.New("no") })
	link := w.pair(t, refuse)
	require.NoError(t, link.Close())
	require.NoError(t, link.Close())

	broken := w.pair(t, refuse)
	require.ErrorIs(t, untilError(t, broken, nil), transport.ErrBroken)
	require.NoError(t, broken.Close())
	require.NoError(t, broken.Close())
	require.ErrorIs(t, broken.Send(nil), transport.ErrClosed)
}

func receiveBreaks(t *testing.T, w world) {
	in := newInbox()
	from, to := w.newAddr(), w.newAddr()
	var refused atomic.Bool
	w.listen(t, to, handler(func(from transport.Peer, kind transport.Kind, frame []byte) error {
		if string(frame) == "bad" {
			refused.Store(true)
			return errors.New("no")
		}
		if string(frame) == "behind" {
			t.Error("Receive was called after it had broken the link")
		}
		return in.Receive(from, kind, frame)
	}))
	good := w.dial(t, from, to, transport.Messages)
	bad := w.dial(t, from, to, transport.Messages)
	require.NoError(t, good.Send([]byte("one")))
	require.NoError(t, bad.Send([]byte("bad")))
	err := untilError(t, bad, []byte("behind"))
	require.ErrorIs(t, err, transport.ErrBroken)
	require.True(t, refused.Load())
	require.NoError(t, good.Send([]byte("two")))
	require.Equal(t, "one", string(in.next(t).frame))
	require.Equal(t, "two", string(in.next(t).frame))
}

func dialAgain(t *testing.T, w world) {
	in := newInbox()
	from, to := w.newAddr(), w.newAddr()
	w.listen(t, to, handler(func(from transport.Peer, kind transport.Kind, frame []byte) error {
		if len(frame) == 0 {
			return errors.New("no")
		}
		return in.Receive(from, kind, frame)
	}))
	broken := w.dial(t, from, to, transport.Chunks)
	require.ErrorIs(t, untilError(t, broken, nil), transport.ErrBroken)
	again := w.dial(t, from, to, transport.Chunks)
	require.NoError(t, again.Send([]byte("again")))
	require.Equal(t, named{from, transport.Chunks, "again"}, in.next(t).named())
	for range 3 {
		require.ErrorIs(t, broken.Send([]byte("old")), transport.ErrBroken)
	}
}
