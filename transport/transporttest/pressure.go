package transporttest

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// pressureRules are about a receiver that is slower than the sender.
var pressureRules = []rule{
	{"SendBlocksWhenTheReceiverDoesNotTakeFrames", blocks},
	{"CloseEndsABlockedSend", closeEndsBlocked},
	{"ClosingTheListenerEndsABlockedSend", listenerEndsBlocked},
}

// heldBytesMax is what a link may hold: rule 4 of package transport.
const heldBytesMax = 2 * transport.FrameBytesMax

// flood sends frames of 1 MiB over link until Send fails, at most twice what a
// link may hold. accepted gets a value for each; ended is closed with the
// error at the end.
func flood(link transport.Link) (accepted <-chan struct{}, ended <-chan error) {
	const frameBytes, frames = 1 << 20, 2 * heldBytesMax / (1 << 20)
	sent := make(chan struct{}, frames)
	return sent, inBackground(func() error {
		frame := make([]byte, frameBytes)
		for range frames {
			if err := link.Send(frame); err != nil {
				return err
			}
			sent <- struct{}{}
		}
		return nil
	})
}

// awaitBlocked returns when the flood has stopped to get on, and fails if that
// is later than a link may hold.
func awaitBlocked(t *testing.T, accepted <-chan struct{}, ended <-chan error) {
	t.Helper()
	for mebibytes := 0; ; mebibytes++ {
		require.LessOrEqual(t, mebibytes<<20, heldBytesMax+1<<20, "the link holds more than it may")
		select {
		case <-accepted:
		case err := <-ended:
			require.FailNow(t, "the flood ended", "%v", err)
		case <-time.After(5 * quiet):
			require.Positive(t, mebibytes, "Send waits for the receiver")
			return
		}
	}
}

func blocks(t *testing.T, w world) {
	shut := newGate()
	var received atomic.Int64
	link := w.pair(t, handler(func(transport.Peer, transport.Kind, []byte) error {
		shut.pass()
		received.Add(1)
		return nil
	}))
	t.Cleanup(shut.open)
	accepted, ended := flood(link)
	await(t, shut.entered, "Receive")
	awaitBlocked(t, accepted, ended)
	shut.open()
	require.NoError(t, await(t, ended, "the rest of the flood, once there is room"))
	require.Eventually(t, func() bool { return received.Load() == 2*heldBytesMax>>20 }, waitMax, time.Millisecond)
}

func closeEndsBlocked(t *testing.T, w world) {
	shut := newGate()
	link := w.pair(t, handler(func(transport.Peer, transport.Kind, []byte) error { shut.pass(); return nil }))
	t.Cleanup(shut.open)
	accepted, ended := flood(link)
	awaitBlocked(t, accepted, ended)
	require.NoError(t, link.Close())
	require.ErrorIs(t, await(t, ended, "the blocked Send"), transport.ErrClosed)
}

func listenerEndsBlocked(t *testing.T, w world) {
	shut := newGate()
	from, to := w.newAddr(), w.newAddr()
	listener := w.listen(t, to, handler(func(transport.Peer, transport.Kind, []byte) error { shut.pass(); return nil }))
	t.Cleanup(shut.open)
	accepted, ended := flood(w.dial(t, from, to, transport.Chunks))
	awaitBlocked(t, accepted, ended)
	closed := inBackground(listener.Close)
	require.ErrorIs(t, await(t, ended, "the blocked Send"), transport.ErrBroken, "even while Receive still runs")
	shut.open()
	require.NoError(t, await(t, closed, "the listener's Close"))
}
