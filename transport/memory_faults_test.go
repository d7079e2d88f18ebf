package transport_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// dialInBackground dials until ctx ends and returns a channel with the error.
func dialInBackground(ctx context.Context, network *transport.Memory, from, to string) <-chan error {
	dialled := make(chan error, 1)
	go func() {
		link, err := network.Dial(ctx, from, to, transport.Messages)
		if err == nil {
			err = link.Close()
		}
		dialled <- err
	}()
	return dialled
}

// requireHeld waits until the direction has held that many dials.
func requireHeld(t *testing.T, network *transport.Memory, from, to string, dials uint64) {
	t.Helper()
	eventually(t, func() bool { return network.Stats(from, to).DialsHeld == dials }, "the dial waits")
}

func requireDialled(t *testing.T, dialled <-chan error) {
	t.Helper()
	select {
	case err := <-dialled:
		require.NoError(t, err)
	case <-time.After(waitMax):
		require.FailNow(t, "the dial still waits")
	}
}

func TestCut(t *testing.T) {
	t.Run("BreaksOpenLinksOfTheDirectionOnly", func(t *testing.T) {
		network := newMemory(t, 1)
		inA, inB := listen(t, network, "a"), listen(t, network, "b")
		ab, ba, cb := dial(t, network, "a", "b"), dial(t, network, "b", "a"), dial(t, network, "c", "b")
		abToo := dial(t, network, "a", "b")
		network.Cut("a", "b")
		require.ErrorIs(t, ab.Send([]byte("x")), transport.ErrBroken)
		require.ErrorIs(t, abToo.Send([]byte("x")), transport.ErrBroken)
		send(t, ba, "back")
		require.Equal(t, "back", inA.next(t))
		send(t, cb, "beside")
		require.Equal(t, "beside", inB.next(t))
		require.Equal(t, transport.Stats{LinksBroken: 2}, network.Stats("a", "b"))
		require.Zero(t, network.Stats("b", "a").LinksBroken)
	})
	t.Run("FailsDialsOfTheDirectionOnlyUntilHealed", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "a")
		inB := listen(t, network, "b")
		old := dial(t, network, "a", "b")
		network.Cut("a", "b")
		_, err := network.Dial(context.Background(), "a", "b", transport.Messages)
		require.ErrorIs(t, err, transport.ErrUnreachable)
		require.EqualValues(t, 1, network.Stats("a", "b").DialsRefused)
		dial(t, network, "b", "a")

		network.Heal("a", "b")
		send(t, dial(t, network, "a", "b"), "again")
		require.Equal(t, "again", inB.next(t))
		require.ErrorIs(t, old.Send(nil), transport.ErrBroken, "what broke stays broken")
	})
	t.Run("LosesWhatIsOnItsWay", func(t *testing.T) {
		network := newMemory(t, 1)
		in := listen(t, network, "b")
		link := dial(t, network, "a", "b")
		network.Delay("a", "b", time.Hour, time.Hour)
		send(t, link, "1", "2", "3")
		require.NoError(t, link.Close())
		network.Cut("a", "b")
		require.Equal(t, transport.Stats{Sent: 3, Delayed: 3, Dropped: 3, LinksBroken: 1}, network.Stats("a", "b"),
			"a link that closed is cut too while it still delivers")
		require.Empty(t, in)
	})
	t.Run("EndsABlockedSend", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "b")
		link := dial(t, network, "a", "b")
		network.Delay("a", "b", time.Hour, time.Hour)
		for range 1024 {
			send(t, link, "fills the queue")
		}
		ended := make(chan error)
		go func() { ended <- link.Send([]byte("one more")) }()
		network.Cut("a", "b")
		require.ErrorIs(t, <-ended, transport.ErrBroken)
		require.EqualValues(t, 1024, network.Stats("a", "b").Dropped)
	})
	t.Run("EndsADialThatABlackHoleHolds", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "b")
		network.BlackHole("a", "b")
		dialled := dialInBackground(context.Background(), network, "a", "b")
		requireHeld(t, network, "a", "b", 1)
		network.Cut("a", "b")
		require.ErrorIs(t, <-dialled, transport.ErrUnreachable)
	})
}

func TestBlackHole(t *testing.T) {
	t.Run("SwallowsFramesOfTheDirectionWithoutAnError", func(t *testing.T) {
		network := newMemory(t, 1)
		inA, inB := listen(t, network, "a"), listen(t, network, "b")
		ab, ba := dial(t, network, "a", "b"), dial(t, network, "b", "a")
		network.BlackHole("a", "b")
		for range 5000 { // more than a queue holds: a hole never blocks
			send(t, ab, "lost")
		}
		send(t, ba, "back")
		require.Equal(t, "back", inA.next(t))
		require.Equal(t, transport.Stats{Sent: 5000, Dropped: 5000}, network.Stats("a", "b"))

		network.Heal("a", "b")
		send(t, ab, "after")
		require.Equal(t, "after", inB.next(t), "the same link goes on, without what was lost")
	})
	t.Run("LeavesWhatIsOnItsWay", func(t *testing.T) {
		network := newMemory(t, 1)
		in := listen(t, network, "b")
		link := dial(t, network, "a", "b")
		network.Delay("a", "b", 10*time.Millisecond, 10*time.Millisecond)
		send(t, link, "before")
		network.BlackHole("a", "b")
		send(t, link, "lost")
		require.Equal(t, "before", in.next(t))
		require.EqualValues(t, 1, requireBalance(t, network, "a", "b").Dropped)
	})
	t.Run("HoldsDialsBothWaysUntilHealed", func(t *testing.T) {
		for _, way := range [][2]string{{"a", "b"}, {"b", "a"}} {
			network := newMemory(t, 1)
			listen(t, network, "a")
			listen(t, network, "b")
			network.BlackHole("a", "b")
			dialled := dialInBackground(context.Background(), network, way[0], way[1])
			requireHeld(t, network, way[0], way[1], 1)
			network.Delay("c", "d", 0, 0) // makes the dial look again
			select {
			case err := <-dialled:
				t.Errorf("dial from %s to %s ended: %v", way[0], way[1], err)
			case <-time.After(20 * time.Millisecond):
			}
			require.EqualValues(t, 1, network.Stats(way[0], way[1]).DialsHeld, "a dial counts once")
			network.Heal("a", "b")
			requireDialled(t, dialled)
		}
	})
	t.Run("HoldsDialsToAnAddressWithoutListener", func(t *testing.T) {
		network := newMemory(t, 1)
		network.BlackHole("a", "b")
		dialled := dialInBackground(context.Background(), network, "a", "b")
		requireHeld(t, network, "a", "b", 1)
		network.Heal("a", "b")
		require.ErrorIs(t, <-dialled, transport.ErrUnreachable)
	})
	t.Run("ADialWaitsNoLongerThanItsContext", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "b")
		network.BlackHole("b", "a")
		ctx, cancel := context.WithCancel(context.Background())
		dialled := dialInBackground(ctx, network, "a", "b")
		requireHeld(t, network, "a", "b", 1)
		cancel()
		require.ErrorIs(t, <-dialled, context.Canceled)

		late, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		require.ErrorIs(t, <-dialInBackground(late, network, "a", "b"), context.DeadlineExceeded)
	})
	t.Run("ABrokenLinkIsStillReported", func(t *testing.T) {
		network := newMemory(t, 1)
		_, err := network.Listen("b", handler(func([]byte) error { return errors.New("no") }))
		require.NoError(t, err)
		link := dial(t, network, "a", "b")
		send(t, link, "refused")
		eventually(t, func() bool { return link.Send(nil) != nil }, "the link breaks")
		network.BlackHole("a", "b")
		require.ErrorIs(t, link.Send(nil), transport.ErrBroken)
	})
}

func TestIsolate(t *testing.T) {
	t.Run("SwallowsBothWaysAndLeavesOthers", func(t *testing.T) {
		network := newMemory(t, 1)
		in := map[string]inbox{}
		for _, addr := range []string{"a", "b", "c"} {
			in[addr] = listen(t, network, addr)
		}
		ab, ba, bc := dial(t, network, "a", "b"), dial(t, network, "b", "a"), dial(t, network, "b", "c")
		network.Isolate("a")
		send(t, ab, "lost")
		send(t, ba, "lost")
		send(t, bc, "arrives")
		require.Equal(t, "arrives", in["c"].next(t))
		require.EqualValues(t, 1, network.Stats("a", "b").Dropped)
		require.EqualValues(t, 1, network.Stats("b", "a").Dropped)

		network.Rejoin("a")
		send(t, ab, "to b")
		send(t, ba, "to a")
		require.Equal(t, "to b", in["b"].next(t))
		require.Equal(t, "to a", in["a"].next(t))
	})
	t.Run("HoldsDialsWithAddressesThatComeLater", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "a")
		network.Isolate("a")
		listen(t, network, "later")
		to := dialInBackground(context.Background(), network, "later", "a")
		from := dialInBackground(context.Background(), network, "a", "later")
		requireHeld(t, network, "later", "a", 1)
		requireHeld(t, network, "a", "later", 1)
		network.Rejoin("a")
		requireDialled(t, to)
		requireDialled(t, from)
	})
	t.Run("AnAddressStillReachesItself", func(t *testing.T) {
		network := newMemory(t, 1)
		in := listen(t, network, "a")
		network.Isolate("a")
		send(t, dial(t, network, "a", "a"), "me")
		require.Equal(t, "me", in.next(t))
	})
	t.Run("RejoinLeavesOtherFaultsAndOtherIsolations", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "b")
		fromA, fromC, fromD := dial(t, network, "a", "b"), dial(t, network, "c", "b"), dial(t, network, "d", "b")
		network.BlackHole("a", "b")
		network.Isolate("a")
		network.Isolate("c")
		network.Isolate("d")
		network.Rejoin("a")
		network.Rejoin("d")
		network.Rejoin("e")
		send(t, fromA, "lost by the hole")
		send(t, fromC, "lost by its isolation")
		send(t, fromD, "arrives")
		require.EqualValues(t, 1, network.Stats("a", "b").Dropped)
		require.EqualValues(t, 1, network.Stats("c", "b").Dropped)
		require.Zero(t, network.Stats("d", "b").Dropped)
	})
	t.Run("HealDoesNotEndIt", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "b")
		link := dial(t, network, "a", "b")
		network.Isolate("a")
		network.Heal("a", "b")
		send(t, link, "lost")
		require.EqualValues(t, 1, network.Stats("a", "b").Dropped)
	})
}

func TestHealAllEndsEveryFaultAndIsolation(t *testing.T) {
	network := newMemory(t, 1)
	in := listen(t, network, "b")
	fromA, fromC, fromD, fromE := dial(t, network, "a", "b"), dial(t, network, "c", "b"), dial(t, network, "d", "b"), dial(t, network, "e", "b")
	network.Isolate("a")
	network.BlackHole("c", "b")
	network.Drop("d", "b", 1)
	network.Duplicate("e", "b", 1)
	network.Delay("e", "b", time.Hour, time.Hour)
	network.Cut("f", "b")
	network.Isolate("g")
	waiting := dialInBackground(context.Background(), network, "g", "b")
	requireHeld(t, network, "g", "b", 1)
	network.HealAll()
	requireDialled(t, waiting)
	for _, link := range []transport.Link{fromA, fromC, fromD, fromE, dial(t, network, "f", "b"), dial(t, network, "later", "b")} {
		send(t, link, "arrives")
		require.Equal(t, "arrives", in.next(t))
	}
	require.Empty(t, in, "once each")

	inLater := listen(t, network, "later") // a way that was never used while "a" was isolated
	send(t, dial(t, network, "a", "later"), "arrives")
	require.Equal(t, "arrives", inLater.next(t))
}
