package transporttest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// turnRules are about when Receive is called.
var turnRules = []rule{
	{"ReceiveIsNeverConcurrentForOneLink", oneAtATime},
	{"ABlockedHandlerHoldsUpItsLinkOnly", othersGoOn},
	{"ReceiveMaySendAndDial", receiveMaySend},
}

func oneAtATime(t *testing.T, w world) {
	const senders, frames = 4, 200
	var inside atomic.Int32
	var received int // by Receive alone: the race detector watches it too
	done := make(chan struct{})
	link := w.pair(t, handler(func(transport.Peer, transport.Kind, []byte) error {
		if inside.Add(1) != 1 {
			t.Error("two calls of Receive for one link")
		}
		runtime.Gosched()
		inside.Add(-1)
		if received++; received == senders*frames {
			close(done)
		}
		return nil
	}))
	for sender := range senders {
		go func() {
			for number := range frames {
				if err := link.Send(numbered(sender, number)); err != nil {
					t.Errorf("sender %d: %v", sender, err)
					return
				}
			}
		}()
	}
	await(t, done, "all frames")
}

func othersGoOn(t *testing.T, w world) {
	shut := newGate()
	in := newInbox()
	a, b, to, other := w.newAddr(), w.newAddr(), w.newAddr(), w.newAddr()
	blocking := handler(func(from transport.Peer, kind transport.Kind, frame []byte) error {
		if string(frame) == "block" {
			shut.pass()
			return nil
		}
		return in.Receive(from, kind, frame)
	})
	w.listen(t, to, blocking)
	w.listen(t, other, blocking)
	t.Cleanup(shut.open)
	blocked := w.dial(t, a, to, transport.Messages)
	require.NoError(t, blocked.Send([]byte("block")))
	await(t, shut.entered, "Receive")
	require.NoError(t, blocked.Send([]byte("behind")))

	for i, link := range []transport.Link{
		w.dial(t, a, to, transport.Chunks),
		w.dial(t, a, to, transport.Messages),
		w.dial(t, b, to, transport.Messages),
		w.dial(t, a, other, transport.Messages),
		w.dial(t, to, other, transport.Messages),
	} {
		text := fmt.Sprint("link ", i)
		require.NoError(t, link.Send([]byte(text)))
		require.Equal(t, text, string(in.next(t).frame))
	}
	never(t, in, "a frame overtakes the one that Receive has in hand")
	shut.open()
	require.Equal(t, "behind", string(in.next(t).frame))
}

func receiveMaySend(t *testing.T, w world) {
	in := newInbox()
	a, b := w.newAddr(), w.newAddr()
	w.listen(t, a, in)
	w.listen(t, b, handler(func(from transport.Peer, kind transport.Kind, frame []byte) error {
		ctx, cancel := context.WithTimeout(context.Background(), waitMax)
		defer cancel()
		link, err := w.Dial(ctx, b, from.Address, kind)
		if err != nil {
			t.Errorf("dial from Receive: %v", err)
			return err
		}
		return errors.Join(link.Send(append(frame, " answered"...)), link.Close())
	}))
	require.NoError(t, w.dial(t, a, b, transport.Messages).Send([]byte("question")))
	require.Equal(t, named{b, transport.Messages, "question answered"}, in.next(t).named())
}
