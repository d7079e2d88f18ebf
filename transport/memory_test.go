package transport_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemoryKeepsTheRulesOfANetwork(t *testing.T) {
	transporttest.Run(t, func(t *testing.T) (transport.Network, func() string) {
		return newMemory(t, 1), numberedAddresses()
	})
}

// numberedAddresses returns a function that never returns an address twice.
func numberedAddresses() func() string {
	addresses := 0
	return func() string {
		addresses++
		return fmt.Sprintf("node-%d", addresses)
	}
}

// waitMax is how long a test waits for what must happen.
const waitMax = 2 * time.Minute

// newMemory makes a network that is closed when t ends.
func newMemory(t *testing.T, seed int64) *transport.Memory {
	t.Helper()
	network := transport.NewMemory(seed)
	t.Cleanup(func() { require.NoError(t, network.Close()) })
	return network
}

// handler is a transport.Handler of one function.
type handler func(frame []byte) error

func (h handler) Receive(_ transport.Peer, _ transport.Kind, frame []byte) error { return h(frame) }

// inbox is a handler that hands the text of each frame to the test.
type inbox chan string

func (in inbox) Receive(_ transport.Peer, _ transport.Kind, frame []byte) error {
	in <- string(frame)
	return nil
}

// next waits for the next frame.
func (in inbox) next(t *testing.T) string {
	t.Helper()
	select {
	case text := <-in:
		return text
	case <-time.After(waitMax):
		require.FailNow(t, "no frame came")
		return ""
	}
}

// listen opens an inbox at addr.
func listen(t *testing.T, network *transport.Memory, addr string) inbox {
	t.Helper()
	in := make(inbox, 8192)
	_, err := network.Listen(addr, in)
	require.NoError(t, err)
	return in
}

// dial opens a link without waiting for anything to be healed.
func dial(t *testing.T, network *transport.Memory, from, to string) transport.Link {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	link, err := network.Dial(ctx, from, to, transport.Messages)
	require.NoError(t, err)
	return link
}

// send sends texts and requires that the link takes them.
func send(t *testing.T, link transport.Link, texts ...string) {
	t.Helper()
	for _, text := range texts {
		require.NoError(t, link.Send([]byte(text)))
	}
}

// eventually waits for a counter to say what it must.
func eventually(t *testing.T, holds func() bool, what string) {
	t.Helper()
	require.Eventually(t, holds, waitMax, time.Millisecond, what)
}

// requireBalance waits until nothing of a direction is on its way: every frame
// and every copy has been delivered or has been counted as dropped.
func requireBalance(t *testing.T, network *transport.Memory, from, to string) transport.Stats {
	t.Helper()
	var stats transport.Stats
	eventually(t, func() bool {
		stats = network.Stats(from, to)
		return stats.Sent+stats.Duplicated == stats.Delivered+stats.Dropped
	}, "Sent + Duplicated = Delivered + Dropped")
	return stats
}

func TestMemoryClose(t *testing.T) {
	t.Run("EndsListenersLinksAndWaitingDials", func(t *testing.T) {
		network := transport.NewMemory(1)
		inA := listen(t, network, "a")
		listen(t, network, "b")
		link := dial(t, network, "b", "a")
		send(t, link, "before")
		require.Equal(t, "before", inA.next(t))
		network.BlackHole("a", "b")
		dialled := make(chan error)
		go func() {
			_, err := network.Dial(context.Background(), "a", "b", transport.Messages)
			dialled <- err
		}()
		eventually(t, func() bool { return network.Stats("a", "b").DialsHeld == 1 }, "the dial waits")

		require.NoError(t, network.Close())
		require.ErrorIs(t, <-dialled, transport.ErrClosed)
		require.ErrorIs(t, link.Send([]byte("after")), transport.ErrBroken)
		_, err := network.Listen("c", make(inbox))
		require.ErrorIs(t, err, transport.ErrClosed)
		_, err = network.Dial(context.Background(), "b", "a", transport.Messages)
		require.ErrorIs(t, err, transport.ErrClosed)
		require.NoError(t, network.Close(), "a second time")
	})
	t.Run("EndsReceivesThatSendToEachOther", func(t *testing.T) {
		// Each handler is in a Send that only the other listener's end lets
		// go, so the listeners can't be closed one after the other.
		network := newMemory(t, 1)
		network.Delay("a", "b", time.Hour, time.Hour)
		network.Delay("b", "a", time.Hour, time.Hour)
		ended := make(chan error, 2)
		for _, way := range [][2]string{{"a", "b"}, {"b", "a"}} {
			_, err := network.Listen(way[0], handler(func([]byte) error {
				link, err := network.Dial(context.Background(), way[0], way[1], transport.Messages)
				for err == nil {
					err = link.Send(nil)
				}
				ended <- err
				return nil
			}))
			require.NoError(t, err)
		}
		send(t, dial(t, network, "c", "a"), "go")
		send(t, dial(t, network, "c", "b"), "go")
		full := func(from, to string) bool { return network.Stats(from, to).Sent == 1024 }
		eventually(t, func() bool { return full("a", "b") && full("b", "a") }, "both fill their queues")
		require.NoError(t, network.Close())
		require.ErrorIs(t, <-ended, transport.ErrBroken)
		require.ErrorIs(t, <-ended, transport.ErrBroken)
	})
	t.Run("WaitsForReceive", func(t *testing.T) {
		network := transport.NewMemory(1)
		entered, leave := make(chan struct{}), make(chan struct{})
		left := false
		listener, err := network.Listen("a", handler(func([]byte) error {
			close(entered)
			<-leave
			left = true
			return nil
		}))
		require.NoError(t, err)
		send(t, dial(t, network, "b", "a"), "held")
		<-entered
		closed := make(chan error)
		go func() { closed <- network.Close() }()
		select {
		case <-closed:
			t.Error("Close returned while Receive ran")
		case <-time.After(50 * time.Millisecond):
		}
		close(leave)
		require.NoError(t, <-closed)
		require.True(t, left)
		require.NoError(t, listener.Close(), "a listener may be closed after its network")
	})
}

// The limits are stated in the comment of Memory.
func TestMemoryBoundsTheQueueOfALink(t *testing.T) {
	for _, bound := range []struct {
		statement  string
		frameBytes int
		frames     uint64
	}{
		{"At1024Frames", 1, 1024},
		{"At64MiB", 8 << 20, 8},
		{"AtOneFrameThatFillsIt", 64 << 20, 1},
	} {
		t.Run(bound.statement, func(t *testing.T) {
			network := newMemory(t, 1)
			entered := make(chan struct{}, 4096)
			leave := make(chan struct{})
			release := sync.OnceFunc(func() { close(leave) })
			t.Cleanup(release) // also when the test fails, before the network closes
			_, err := network.Listen("a", handler(func([]byte) error {
				entered <- struct{}{}
				<-leave
				return nil
			}))
			require.NoError(t, err)
			link := dial(t, network, "b", "a")
			ended := make(chan error, 1)
			go func() {
				frame := make([]byte, bound.frameBytes)
				for range bound.frames + 2 {
					if err := link.Send(frame); err != nil {
						ended <- err
						return
					}
				}
				ended <- nil
			}()
			<-entered
			full := bound.frames + 1 // with the one that Receive has in hand
			eventually(t, func() bool { return network.Stats("b", "a").Sent >= full }, "the queue fills")
			select {
			case <-ended:
				t.Error("the queue took one more")
			case <-time.After(50 * time.Millisecond):
			}
			require.Equal(t, full, network.Stats("b", "a").Sent)
			release()
			require.NoError(t, <-ended)
			require.Equal(t, bound.frames+2, requireBalance(t, network, "b", "a").Delivered)
		})
	}
}

func TestMemoryStats(t *testing.T) {
	t.Run("CountEachDirectionByItself", func(t *testing.T) {
		network := newMemory(t, 1)
		inA, inB := listen(t, network, "a"), listen(t, network, "b")
		send(t, dial(t, network, "a", "b"), "1", "2", "3")
		send(t, dial(t, network, "b", "a"), "4")
		for range 3 {
			inB.next(t)
		}
		inA.next(t)
		require.Equal(t, transport.Stats{Sent: 3, Delivered: 3}, network.Stats("a", "b"))
		require.Equal(t, transport.Stats{Sent: 1, Delivered: 1}, network.Stats("b", "a"))
		require.Zero(t, network.Stats("a", "c"))
	})
	t.Run("CountWhatAReceiverThatGivesUpLeaves", func(t *testing.T) {
		network := newMemory(t, 1)
		release := make(chan struct{})
		_, err := network.Listen("a", handler(func([]byte) error { <-release; return errors.New("no") }))
		require.NoError(t, err)
		link := dial(t, network, "b", "a")
		send(t, link, "refused", "lost", "lost")
		close(release)
		require.Equal(t, transport.Stats{Sent: 3, Delivered: 1, Dropped: 2}, requireBalance(t, network, "b", "a"))
		require.ErrorIs(t, link.Send(nil), transport.ErrBroken)
	})
	t.Run("SurviveHealing", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "a")
		link := dial(t, network, "b", "a")
		network.BlackHole("b", "a")
		send(t, link, "lost")
		network.Heal("b", "a")
		network.HealAll()
		require.Equal(t, transport.Stats{Sent: 1, Dropped: 1}, network.Stats("b", "a"))
	})
}

func TestErrorsOfMemoryNameTheLink(t *testing.T) {
	network := newMemory(t, 1)
	listen(t, network, "node-a")
	link := dial(t, network, "node-b", "node-a")
	network.Cut("node-b", "node-a")
	require.EqualError(t, link.Send(nil), `transport: link broken: from "node-b" to "node-a" (messages): cut`)
	_, err := network.Dial(context.Background(), "node-b", "node-a", transport.Chunks)
	require.EqualError(t, err, `transport: unreachable: from "node-b" to "node-a": cut`)
	require.NoError(t, link.Close())
	require.EqualError(t, link.Send(nil), `transport: closed: link from "node-b" to "node-a" (messages)`)
}
