package coordinator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// What a release ends, and what it doesn't.

// The case asks for 20,000 rounds: here are 1,000.
func TestS18TheAnswerIsTrueWhenACancellationMeetsTheGrant(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	node := c.Node(1).Coordinator()
	random := newRandom(t)
	granted, left := 0, 0
	// How long a hand-over takes is the machine's matter: the longest delay of a
	// cancellation follows it.
	limit := time.Millisecond
	for range 1000 {
		lease := acquire(t, c.Node(1), "key")
		ctx, cancel := context.WithCancel(patient(t))
		answered := make(chan struct{})
		var next *coordinator.Lease
		var err error
		go func() {
			defer close(answered)
			next, err = node.Acquire(ctx, "key")
		}()
		stop := time.AfterFunc(time.Duration(random.Int64N(int64(limit))), cancel)
		release(t, lease)
		<-answered
		stop.Stop()
		cancel()
		if err == nil {
			granted++
			limit = max(limit*9/10, 10*time.Microsecond)
			require.True(t, next.Held())
			require.Equal(t, next.Token(), inspect(t, c.Node(1), "key").Holder.Token)
			release(t, next)
			continue
		}
		left++
		limit = limit * 11 / 10
		require.Nil(t, next)
		require.ErrorIs(t, err, context.Canceled)
		release(t, acquire(t, c.Node(1), "key"))
	}
	t.Logf("%d were granted, %d had left", granted, left)
	require.NotZero(t, granted)
	require.NotZero(t, left)
	awaitNothingLeft(t, c)
}

func TestS23ARepeatedReleaseDoesNotEndALaterLease(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	require.NoError(t, c.MoveLeader(patient(t), "key", 2))
	first := acquire(t, c.Node(1), "key")
	c.BlackHole(2, 1) // the answer
	ctx, cancel := context.WithCancel(patient(t))
	released := make(chan error, 1)
	go func() { released <- first.Release(ctx) }()
	require.NoError(t, c.Await(patient(t), "the release", func() bool { return inspect(t, c.Node(3), "key").Holder == nil }))
	cancel()
	err := <-released
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, coordinator.Unknown, outcomeOf(t, err))
	require.Equal(t, coordinator.Releasing, first.State())
	awaitDropped(t, c, 2, 1)
	c.Heal()

	second := acquire(t, c.Node(1), "key")
	require.NoError(t, first.Release(patient(t)))
	require.Equal(t, coordinator.Released, first.State())
	requireOpen(t, second)
	_, err = try(t, c.Node(3), "key")
	var busy *coordinator.BusyError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, second.Token(), busy.Holders[0].Token)
}

func TestS54OnlyTheOwnerReleases(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	was := acquire(t, c.Node(2), "key")
	release(t, was)
	lost := acquire(t, c.Node(2), "key")
	advance(c, long, 2)
	require.False(t, lost.Held())

	lease := acquire(t, c.Node(1), "key")
	var none *coordinator.Lease
	for name, stranger := range map[string]*coordinator.Lease{
		"a lease that was released": was, "a lease that was lost": lost, "no lease": none, "an empty lease": {},
	} {
		err := stranger.Release(ctx)
		if stranger != was {
			require.ErrorIs(t, err, coordinator.ErrLeaseLost, name)
		}
		require.Equal(t, lease.Token(), inspect(t, c.Node(3), "key").Holder.Token, name)
	}
	requireOpen(t, lease)
}

func TestS55ASecondReleaseDoesNotFreeTheNextOwner(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	first := acquire(t, c.Node(1), "key")
	release(t, first)
	second := acquire(t, c.Node(2), "key")
	parallel(4, func(int) {
		if err := first.Release(ctx); err != nil {
			t.Errorf("a second release after one that was confirmed: %v", err)
		}
	})
	requireOpen(t, second)
	require.Equal(t, second.Token(), inspect(t, c.Node(1), "key").Holder.Token)
	require.ErrorIs(t, first.Err(), coordinator.ErrReleased)
}

func TestS57AReleaseWithAFinishedContextIsSentAllTheSame(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	lease := acquire(t, c.Node(1), "key")
	next := ask(t, c.Node(2), "key")
	awaitLine(t, c, c.Node(2), "key", 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := lease.Release(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, coordinator.Unknown, outcomeOf(t, err))
	require.False(t, lease.Held())
	release(t, next.granted())
	require.NoError(t, lease.Release(patient(t)), "it has been confirmed meanwhile")
	awaitNothingLeft(t, c)
}

func TestS59AReleaseAfterTheLossSaysSo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	lease, next, _ := cutWhileHeld(t, c, 0, func() { c.Isolate(1) })
	second := next.granted()

	// At once, although nothing can be confirmed.
	err := lease.Release(context.Background())
	require.ErrorIs(t, err, coordinator.ErrLeaseLost)
	require.NotErrorIs(t, err, coordinator.ErrReleased)
	require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
	require.ErrorIs(t, lease.Release(context.Background()), coordinator.ErrLeaseLost)
	c.Heal()
	require.NoError(t, c.Await(patient(t), "the background to be done", func() bool {
		return c.Node(1).Coordinator().Status().Requests == 0
	}))
	requireOpen(t, second)
	require.Equal(t, second.Token(), inspect(t, c.Node(1), second.Key()).Holder.Token)
}

// The case asks for 20,000 short holds and two idle TTLs: here are 1,600, and
// the TTLs pass by the clocks.
func TestS63NothingIsRenewedAfterItsRelease(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	ctx := patient(t)
	node := c.Node(1)
	probe := acquire(t, node, c.KeyIn(2, "probe"))
	parallel(16, func(i int) {
		for j := range 100 {
			lease, err := node.Coordinator().Acquire(ctx, fmt.Sprintf("{%s}%d-%d", c.KeyIn(1, "tag"), i, j))
			if err != nil {
				t.Errorf("acquire: %v", err)
				return
			}
			if err := lease.Release(ctx); err != nil {
				t.Errorf("release: %v", err)
			}
		}
	})
	group := func(i int) coordinator.GroupStatus { return node.Coordinator().Status().Groups[i-1] }
	require.Zero(t, group(1).Leases)
	require.Zero(t, group(1).Keys)
	require.Equal(t, 1, node.Coordinator().Status().Requests)
	idle, renewing := group(1).Applied, group(2).Applied
	for range 8 { // two TTLs
		advance(c, long/4, 1)
		before := group(2).Applied
		require.NoError(t, c.Await(ctx, "the renewal of the probe", func() bool { return group(2).Applied > before }))
	}
	require.True(t, probe.Held())
	require.GreaterOrEqual(t, group(2).Applied, renewing+8)
	require.Equal(t, idle, group(1).Applied, "a group without leases has nothing to renew")
}
