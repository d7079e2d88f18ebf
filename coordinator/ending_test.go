package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// That what a holder has ends when the holder does, here and at the group.

// A session that its owner closes is a node that is closed. It has more leases
// than it can give back in one batch: the leader sweeps the rest.
func TestS48ANodeThatClosesGivesEverythingOn(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	const count = 3000
	leases := holdMany(t, c.Node(1), "key", count, func(int) time.Duration { return long })
	first, last := leases[0].Key(), leases[count-1].Key()
	next := []*inLine{ask(t, c.Node(2), first), ask(t, c.Node(3), last)}
	awaitLine(t, c, c.Node(2), first, 1)
	awaitLine(t, c, c.Node(2), last, 1)
	c.Node(1).Close()
	require.Greater(t, next[0].granted().Token(), leases[0].Token())
	require.Greater(t, next[1].granted().Token(), leases[count-1].Token())
	require.NoError(t, c.Await(ctx, "the rest to be swept", func() bool { return groupOn(c, 2, "key").Leases == 2 }))
	for _, lease := range leases[1 : count-1] {
		require.ErrorIs(t, lease.Err(), coordinator.ErrClosed)
	}
	lease, err := try(t, c.Node(2), leases[count/2].Key())
	require.NoError(t, err)
	require.Greater(t, lease.Token(), leases[count/2].Token())
	require.Zero(t, c.Faults().ExpiriesProposed, "nothing had to wait for a TTL")
	require.NotZero(t, c.Faults().SweepsProposed)
}

func TestS61HereAndAtTheGroupALeaseEndsTogether(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	n := c.Node(1)
	t.Run("ALossLeavesNothingInTheWayOfTheSameNode", func(t *testing.T) {
		id := coordinator.WithRequestID("job") // what is shared inside the node
		first := acquire(t, n, "key", id)
		joined := acquire(t, n, "key", id)
		require.Equal(t, first.Token(), joined.Token())
		c.Isolate(1)
		advance(c, long, 1)
		awaitEnd(t, first)
		second := ask(t, n, "key", id) // while the group may still have the first
		for _, l := range []*coordinator.Lease{first, joined} {
			require.ErrorIs(t, l.Release(ctx), coordinator.ErrLeaseLost)
		}
		awaitCut(t, c, 1)
		second.waits()
		c.Heal()
		require.Greater(t, second.granted().Token(), first.Token())
		release(t, second.lease)
		awaitNothingLeft(t, c)
	})
	t.Run("AReleaseThatNobodyWaitsForLetsNobodyInBeforeTheGroupHasIt", func(t *testing.T) {
		require.NoError(t, c.MoveLeader(ctx, "key", 2))
		first := acquire(t, n, "key")
		second := ask(t, n, "key")
		awaitLine(t, c, n, "key", 1)
		c.BlackHole(1, 2)
		c.BlackHole(1, 3)
		dropped := c.Traffic(1, 2).Dropped
		releasing, cancel := context.WithCancel(ctx)
		released := make(chan error, 1)
		go func() { released <- first.Release(releasing) }()
		awaitEnd(t, first)
		require.NoError(t, c.Await(ctx, "the release to get lost", func() bool { return c.Traffic(1, 2).Dropped > dropped }))
		cancel()
		err := <-released
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, coordinator.Unknown, outcomeOf(t, err))
		require.Equal(t, coordinator.Releasing, first.State())
		require.Equal(t, first.Token(), inspect(t, c.Node(2), "key").Holder.Token)
		second.waits()
		c.Heal()
		require.Greater(t, second.granted().Token(), first.Token())
		require.Equal(t, coordinator.Released, first.State())
		release(t, second.lease)
		awaitNothingLeft(t, c)
	})
}

func TestS62AReleaseOfWhatIsLostDoesNotBlock(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	node := c.Node(1).Coordinator()
	one := acquire(t, c.Node(1), "key")
	set, err := node.AcquireAll(patient(t), []string{c.KeyIn(1, "a"), c.KeyIn(2, "b"), c.KeyIn(3, "c")})
	require.NoError(t, err)
	running, errs := make(chan struct{}), make(chan error, 3)
	go func() {
		errs <- node.Do(context.Background(), "done under a lock", func(ctx context.Context, _ *coordinator.Lease) error {
			close(running)
			<-ctx.Done()
			return nil
		})
	}()
	<-running
	c.Isolate(1)
	advance(c, long, 1)

	// Nothing bounds these but the loss, and nobody hears them.
	for _, h := range []handle{one, set} {
		go func() { errs <- h.Release(context.Background()) }()
	}
	for range cap(errs) {
		select {
		case err := <-errs:
			require.ErrorIs(t, err, coordinator.ErrLeaseLost)
		case <-patient(t).Done():
			require.FailNow(t, "it waits to be confirmed")
		}
	}
	require.Equal(t, 3, node.Status().Requests, "all three are still to be given back")
	awaitCut(t, c, 1)
	c.Heal()
	awaitNothingLeft(t, c)
}

// The lease would outlast the test: only its release lets the next one in.
func TestS64AWorkerThatEndsLeavesNothingHeld(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	node := c.Node(1).Coordinator()
	errWork := errors.New("the work failed")
	type work = func(context.Context, *coordinator.Lease) error
	run := func(ctx context.Context, key string, fn work) error {
		return node.Do(ctx, key, fn)
	}
	for _, way := range []struct {
		name string
		end  func() error
		want func(t *testing.T, err error, recovered any)
	}{
		{"ByAnError", func() error { return errWork }, func(t *testing.T, err error, _ any) { require.ErrorIs(t, err, errWork) }},
		{"ByAPanic", func() error { panic(errWork) }, func(t *testing.T, _ error, recovered any) { require.Equal(t, errWork, recovered) }},
		{"ByGoexit", func() error { runtime.Goexit(); return nil }, func(t *testing.T, err error, recovered any) {
			require.NoError(t, err, "Do has returned")
			require.Nil(t, recovered)
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			key := "key of what ends " + way.name
			running, end, ended := make(chan *coordinator.Lease, 1), make(chan struct{}), make(chan struct{})
			var err error
			var recovered any
			go func() {
				defer close(ended)
				defer func() { recovered = recover() }()
				err = run(patient(t), key, func(_ context.Context, lease *coordinator.Lease) error {
					running <- lease
					<-end
					return way.end()
				})
			}()
			lease := <-running
			next := ask(t, c.Node(2), key)
			awaitLine(t, c, c.Node(2), key, 1)
			close(end)
			<-ended
			way.want(t, err, recovered)
			require.False(t, lease.Held())
			holder := inspect(t, c.Node(3), key).Holder
			require.NotNil(t, holder)
			require.Greater(t, holder.Token, lease.Token(), "the worker has ended and its key has not gone on")
			release(t, next.granted())
		})
	}
	t.Run("WithTheContextThatItWorksFor", func(t *testing.T) {
		work, cancel := context.WithCancel(patient(t))
		err := run(work, "key", func(ctx context.Context, _ *coordinator.Lease) error {
			cancel()
			<-ctx.Done()
			return fmt.Errorf("stopped: %w", ctx.Err())
		})
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, c.Await(patient(t), "the release that goes on by itself", func() bool { return inspect(t, c.Node(2), "key").Holder == nil }))
	})
	if t.Failed() {
		return // something is held
	}
	require.Zero(t, c.Faults().ExpiriesProposed)
	awaitNothingLeft(t, c)
}
