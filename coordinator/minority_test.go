package coordinator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// What a node says and does that is without the others.

// Nothing that is asked of a lease blocks, and a handler of the loss may
// release it and close the node, while no group answers.
func TestS07AHandlerOfTheLossBlocksOnNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	node := c.Node(1).Coordinator()
	lease := acquire(t, c.Node(1), "key")
	next := ask(t, c.Node(2), "key", coordinator.WithTTL(longer))
	awaitLine(t, c, c.Node(2), "key", 1)
	stop := make(chan struct{})
	asked := make(chan struct{})
	var lost atomic.Int64
	go func() {
		defer close(asked)
		parallel(4, func(int) {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, _ = lease.State(), lease.Remaining()
				_, _ = lease.Done(), lease.Endangered()
				if lease.Err() != nil || !lease.Held() || lease.Context().Err() != nil {
					lost.Add(1)
				}
			}
		})
	}()
	handled := make(chan []error, 2)
	context.AfterFunc(lease.Context(), func() {
		handled <- []error{lease.Release(context.Background()), lease.Release(lease.Context())}
	})
	go func() {
		<-lease.Done()
		released := lease.Release(context.Background())
		handled <- []error{released, node.Close(), lease.Release(context.Background())}
	}()
	c.Isolate(1)
	advance(c, long, 1)
	for range cap(handled) {
		select {
		case errs := <-handled:
			require.ErrorIs(t, errs[0], coordinator.ErrLeaseLost)
			for _, err := range errs[1:] {
				if err != nil { // Close has none
					require.ErrorIs(t, err, coordinator.ErrLeaseLost)
				}
			}
		case <-patient(t).Done():
			require.FailNow(t, "a handler is blocked")
		}
	}
	require.NoError(t, c.Await(patient(t), "answers after the loss", func() bool { return lost.Load() > 1000 }))
	close(stop)
	select {
	case <-asked:
	case <-patient(t).Done():
		require.FailNow(t, "a question is blocked")
	}
	awaitCut(t, c, 1)
	letPass(t, c, 2*long, 2, 3)
	require.Greater(t, next.granted().Token(), lease.Token())
}

func TestS08TheClusterIsGoneForGood(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	n := c.Node(1)
	node := n.Coordinator()
	lease := acquire(t, n, "key")
	bound, unbind := lease.Bind(patient(t))
	defer unbind()
	c.Node(2).Kill()
	c.Node(3).Kill()
	gone, left := n.Clock().Elapsed(), lease.Remaining()
	require.LessOrEqual(t, left, long*9/10)
	advance(c, long/4, 1) // a renewal is due
	select {
	case <-lease.Endangered():
	case <-patient(t).Done():
		require.FailNow(t, "no renewal has failed")
	}
	for lease.Held() {
		require.Less(t, n.Clock().Elapsed()-gone, left+patience, "its window is over")
		advance(c, time.Second, 1)
	}
	require.GreaterOrEqual(t, n.Clock().Elapsed()-gone, left, "not before its window was over")
	awaitEnd(t, lease)
	<-bound.Done()
	require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
	require.ErrorContains(t, lease.Err(), "window")
	require.ErrorIs(t, context.Cause(bound), coordinator.ErrLeaseLost)
	status := node.Status()
	require.EqualValues(t, 1, status.LostWindow)
	require.NotZero(t, status.RenewFailures)

	// What was lost is tried to be given back until the node is closed.
	require.NoError(t, c.Await(patient(t), "another attempt", func() bool { return node.Status().Retries > status.Retries }))
	// The kit checks that no goroutine of it goes on.
	n.Close()
	require.ErrorIs(t, lease.Release(patient(t)), coordinator.ErrLeaseLost)
}

// The leader is cut off together with a client, and both still believe that it
// leads. It can decide nothing.
func TestS15ALeaderInTheMinorityHandsOutNothing(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	a, b := c.Node(1).Coordinator(), c.Node(2)
	key := c.KeyIn(1, "free")
	held := acquire(t, c.Node(1), c.KeyIn(1, "held"))
	given := acquire(t, c.Node(1), c.KeyIn(1, "given"))
	require.NoError(t, c.MoveLeader(ctx, key, 1))
	c.Isolate(1)
	advance(c, long/4, 1) // so that Ensure has to renew
	require.EqualValues(t, 1, leaderAsSeenBy(c.Node(1), 1), "it believes that it leads")

	wait := coordinator.WithWait(5 * locktest.ElectionTimeout)
	short := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, 5*locktest.ElectionTimeout)
	}
	calls := []func() error{
		func() error { _, err := a.Acquire(ctx, key, wait); return err },
		func() error { _, err := a.AcquireAll(ctx, []string{key, c.KeyIn(1, "more")}, wait); return err },
		func() error { _, err := a.TryAcquire(ctx, key); return err },
		func() error { _, err := a.Inspect(ctx, held.Key()); return err },
		func() error { _, err := a.Resolve(ctx, held.Key(), "id"); return err },
		func() error {
			bounded, cancel := short()
			defer cancel()
			return held.Ensure(bounded, long*8/10)
		},
	}
	errs := make([]error, len(calls))
	var released error
	var second *coordinator.Lease
	parallel(len(calls)+2, func(i int) {
		switch i {
		case len(calls):
			bounded, cancel := short()
			defer cancel()
			released = given.Release(bounded)
		case len(calls) + 1:
			var err error
			if second, err = b.Coordinator().Acquire(ctx, key); err != nil {
				t.Errorf("acquire on the side of the majority: %v", err)
			}
		default:
			errs[i] = calls[i]()
		}
	})
	awaitCut(t, c, 1)
	for i, err := range errs {
		require.ErrorIs(t, err, coordinator.ErrUnavailable, "call %d", i)
	}
	require.ErrorIs(t, released, context.DeadlineExceeded)
	require.Equal(t, coordinator.Unknown, outcomeOf(t, released))
	require.Equal(t, coordinator.Releasing, given.State())
	require.NotNil(t, inspect(t, b, given.Key()).Holder, "the release is not known here")
	require.NotEqual(t, 1, c.Leader(key))

	c.Heal()
	require.NoError(t, c.WaitReady(ctx))
	require.NoError(t, given.Release(ctx))
	require.Equal(t, second.Token(), inspect(t, c.Node(1), key).Holder.Token)
	require.NoError(t, second.Release(ctx))
	require.Greater(t, acquire(t, c.Node(1), key).Token(), second.Token())
}

// leaderAsSeenBy returns who leads a group as a node sees it.
func leaderAsSeenBy(n *locktest.Node, group int) coordinator.NodeID {
	return n.Coordinator().Status().Groups[group-1].Leader
}
