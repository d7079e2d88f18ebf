package transporttest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// dialRules are about opening links.
var dialRules = []rule{
	{"DialFailsWhenNobodyListens", nobodyListens},
	{"DialFailsAtOnceWithAContextThatHasEnded", endedContext},
	{"DialRefusesBadArguments", badDials},
	{"TheContextOfADialDoesNotBoundTheLink", contextBoundsTheDial},
	{"LinksGoOneWayEach", oneWay},
}

func nobodyListens(t *testing.T, w world) {
	from, to := w.newAddr(), w.newAddr()
	dial := func(when string) {
		ctx, cancel := context.WithTimeout(context.Background(), waitMax)
		defer cancel()
		link, err := w.Dial(ctx, from, to, transport.Messages)
		require.ErrorIs(t, err, transport.ErrUnreachable, when)
		require.ErrorContains(t, err, to, "the error names the address")
		require.Nil(t, link, when)
	}
	dial("never listened on")
	listener := w.listen(t, to, newInbox())
	require.NoError(t, listener.Close())
	dial("closed")
}

func endedContext(t *testing.T, w world) {
	to := w.newAddr()
	w.listen(t, to, newInbox())
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	link, err := w.Dial(cancelled, w.newAddr(), to, transport.Messages)
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, link)

	late, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	link, err = w.Dial(late, w.newAddr(), to, transport.Messages)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Nil(t, link)
}

func badDials(t *testing.T, w world) {
	from, to := w.newAddr(), w.newAddr()
	w.listen(t, to, newInbox())
	for _, arguments := range []struct {
		from, to string
		kind     transport.Kind
	}{
		{"", to, transport.Messages},
		{from, "", transport.Messages},
		{from, to, 0},
		{from, to, transport.Chunks + 1},
		{from, to, 255},
	} {
		link, err := w.Dial(context.Background(), arguments.from, arguments.to, arguments.kind)
		require.ErrorIs(t, err, transport.ErrInvalid, fmt.Sprint(arguments))
		require.Nil(t, link)
	}
}

func contextBoundsTheDial(t *testing.T, w world) {
	in := newInbox()
	to := w.newAddr()
	w.listen(t, to, in)
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	link, err := w.Dial(ctx, w.newAddr(), to, transport.Messages)
	require.NoError(t, err)
	defer link.Close()
	cancel()
	require.NoError(t, link.Send([]byte("after")))
	require.Equal(t, "after", string(in.next(t).frame))
}

func oneWay(t *testing.T, w world) {
	a, b := w.newAddr(), w.newAddr()
	inA, inB := newInbox(), newInbox()
	w.listen(t, a, inA)
	w.listen(t, b, inB)
	ab, ba := w.dial(t, a, b, transport.Messages), w.dial(t, b, a, transport.Messages)
	require.NoError(t, ab.Send([]byte("to b")))
	require.NoError(t, ba.Send([]byte("to a")))
	require.Equal(t, named{a, transport.Messages, "to b"}, inB.next(t).named())
	require.Equal(t, named{b, transport.Messages, "to a"}, inA.next(t).named())
	require.NoError(t, ab.Close())
	require.NoError(t, ba.Send([]byte("still")))
	require.Equal(t, "still", string(inA.next(t).frame), "one way's end is not the other's")
}
