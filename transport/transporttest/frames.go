package transporttest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// frameRules are about what arrives, and in what order.
var frameRules = []rule{
	{"FramesArriveUnchangedAndInOrder", framesArrive},
	{"FramesOfEverySizeUpToTheLimitArrive", sizes},
	{"AFrameAboveTheLimitIsRefusedAndBreaksTheLink", tooLong},
	{"ReceiveNamesTheSenderAndTheKind", names},
	{"SendDoesNotKeepTheFrame", sendKeepsNothing},
	{"TheFrameBelongsToTheHandler", handlerOwns},
	{"FramesOfConcurrentSendersKeepEachSendersOrder", concurrentSenders},
	{"ManyLinksEachKeepTheirOrder", manyLinks},
}

func framesArrive(t *testing.T, w world) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	in := newInbox()
	link := w.pair(t, in)
	var sent [][]byte
	for range 1000 {
		frame := make([]byte, random.IntN(1<<random.IntN(14)))
		for at := range frame {
			frame[at] = byte(random.Uint32())
		}
		require.NoError(t, link.Send(frame))
		sent = append(sent, frame)
	}
	for i, want := range sent {
		require.True(t, bytes.Equal(want, in.next(t).frame), "seed %d: frame %d of %d bytes", seed, i, len(want))
	}
}

func sizes(t *testing.T, w world) {
	in := newInbox()
	link := w.pair(t, in)
	for _, size := range []int{0, 1, 2, 255, 256, 65535, 65536, 1 << 20, transport.FrameBytesMax - 1, transport.FrameBytesMax} {
		frame := bytes.Repeat([]byte{0xa5}, size)
		if size > 0 {
			frame[0], frame[size-1] = 1, 2
		}
		require.NoError(t, link.Send(frame), "%d bytes", size)
		require.True(t, bytes.Equal(frame, in.next(t).frame), "%d bytes", size)
	}
}

func tooLong(t *testing.T, w world) {
	in := newInbox()
	from, to := w.newAddr(), w.newAddr()
	w.listen(t, to, in)
	link := w.dial(t, from, to, transport.Messages)
	require.ErrorIs(t, link.Send(make([]byte, transport.FrameBytesMax+1)), transport.ErrInvalid)
	require.ErrorIs(t, link.Send([]byte("after")), transport.ErrBroken)

	again := w.dial(t, from, to, transport.Messages)
	require.NoError(t, again.Send([]byte("again")))
	require.Equal(t, "again", string(in.next(t).frame), "nothing of the long frame arrives")
}

func names(t *testing.T, w world) {
	in := newInbox()
	a, b, to := w.newAddr(), w.newAddr(), w.newAddr()
	w.listen(t, to, in)
	for _, from := range []string{a, b} {
		for _, kind := range []transport.Kind{transport.Messages, transport.Chunks} {
			text := from + kind.String()
			require.NoError(t, w.dial(t, from, to, kind).Send([]byte(text)))
			require.Equal(t, named{from, kind, text}, in.next(t).named())
		}
	}
}

func sendKeepsNothing(t *testing.T, w world) {
	in := newInbox()
	link := w.pair(t, in)
	frame := make([]byte, 512)
	for i := range byte(200) {
		for at := range frame {
			frame[at] = i
		}
		require.NoError(t, link.Send(frame))
	}
	for i := range byte(200) {
		require.Equal(t, bytes.Repeat([]byte{i}, 512), in.next(t).frame)
	}
}

func handlerOwns(t *testing.T, w world) {
	const frames = 200
	kept := make([][]byte, 0, frames)
	done := make(chan struct{})
	link := w.pair(t, handler(func(_ transport.Peer, _ transport.Kind, frame []byte) error {
		if len(kept) > 0 { // writing into an old frame must not reach a new one
			last := kept[len(kept)-1]
			copy(last[:cap(last)][:len(last)], bytes.Repeat([]byte{0xff}, len(last)))
		}
		if kept = append(kept, frame); len(kept) == frames {
			close(done)
		}
		if !bytes.Equal(frame, bytes.Repeat([]byte{byte(len(kept))}, 300)) {
			t.Errorf("frame %d was changed by writing into the one before", len(kept))
		}
		return nil
	}))
	for i := range frames {
		require.NoError(t, link.Send(bytes.Repeat([]byte{byte(i + 1)}, 300)))
	}
	await(t, done, "the last frame")
	for i, frame := range kept[:frames-1] {
		require.Equal(t, bytes.Repeat([]byte{0xff}, 300), frame, "frame %d was used again", i)
	}
}

// numbered is a frame that says who sent it and as which.
func numbered(sender, number int) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(sender)), uint32(number))
}

func concurrentSenders(t *testing.T, w world) {
	const senders, frames = 8, 300
	in := newInbox()
	link := w.pair(t, in)
	sendAll(t, senders, frames, func(int) transport.Link { return link }, in)
}

func manyLinks(t *testing.T, w world) {
	const links, frames = 12, 300
	in := newInbox()
	nodes := []string{w.newAddr(), w.newAddr(), w.newAddr()}
	for _, addr := range nodes {
		w.listen(t, addr, in)
	}
	sendAll(t, links, frames, func(i int) transport.Link {
		return w.dial(t, nodes[i%3], nodes[(i+1)%3], transport.Messages+transport.Kind(i/3%2))
	}, in)
}

// sendAll lets senders send concurrently over the links that link gives them
// and takes everything from the inbox, checking each sender's order.
func sendAll(t *testing.T, senders, frames int, link func(sender int) transport.Link, in inbox) {
	t.Helper()
	var running []<-chan error
	for sender := range senders {
		over := link(sender)
		running = append(running, inBackground(func() error {
			for number := range frames {
				if err := over.Send(numbered(sender, number)); err != nil {
					return fmt.Errorf("sender %d, frame %d: %w", sender, number, err)
				}
			}
			return nil
		}))
	}
	next := make([]int, senders)
	for range senders * frames {
		frame := in.next(t).frame
		require.Len(t, frame, 8)
		sender := int(binary.BigEndian.Uint32(frame))
		require.Equal(t, next[sender], int(binary.BigEndian.Uint32(frame[4:])), "order of sender %d", sender)
		next[sender]++
	}
	for _, done := range running {
		require.NoError(t, await(t, done, "a sender"))
	}
}
