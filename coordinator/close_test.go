package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// How a node goes, and what becomes of the calls that are under way.

// everyCall calls everything that a coordinator has, and returns the errors by
// name.
func everyCall(ctx context.Context, c *coordinator.Coordinator, key string) map[string]error {
	errs := make(map[string]error)
	_, errs["Acquire"] = c.Acquire(ctx, key)
	_, errs["AcquireWithID"] = c.Acquire(ctx, key, coordinator.WithRequestID("id"))
	_, errs["TryAcquire"] = c.TryAcquire(ctx, key)
	_, errs["AcquireAll"] = c.AcquireAll(ctx, []string{key, "other"})
	_, errs["TryAcquireAll"] = c.TryAcquireAll(ctx, []string{key, "other"})
	errs["Do"] = c.Do(ctx, key, func(context.Context, *coordinator.Lease) error { return nil })
	errs["DoAll"] = c.DoAll(ctx, []string{key}, func(context.Context, *coordinator.LeaseSet) error { return nil })
	_, errs["Inspect"] = c.Inspect(ctx, key)
	_, errs["Resolve"] = c.Resolve(ctx, key, "id")
	errs["WaitReady"] = c.WaitReady(ctx)
	return errs
}

func requireAllClosed(t *testing.T, errs map[string]error) {
	t.Helper()
	for name, err := range errs {
		require.ErrorIs(t, err, coordinator.ErrClosed, name)
		require.Equal(t, coordinator.NotApplied, outcomeOf(t, err), name)
	}
}

// awaitOtherLeader waits until another node leads the group of a key.
func awaitOtherLeader(t *testing.T, c *locktest.Cluster, key string, than int) {
	t.Helper()
	require.NoError(t, c.Await(patient(t), "another leader", func() bool {
		leader := c.Leader(key)
		return leader != 0 && leader != than
	}))
}

func TestS117BlockedCallsEndWhenTheNodeCloses(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	n := c.Node(1)
	node := n.Coordinator()
	ctx := patient(t)
	holder := acquire(t, c.Node(2), "held")
	mine := acquire(t, n, "mine")
	c.Isolate(1)               // so that nothing is answered any more
	advance(c, time.Minute, 1) // so that Ensure has to renew
	calls := []func() error{
		func() error { _, err := node.Acquire(ctx, "held"); return err },
		func() error { _, err := node.Acquire(ctx, "free"); return err },
		func() error { _, err := node.Acquire(ctx, "free", coordinator.WithRequestID("id")); return err },
		func() error { _, err := node.AcquireAll(ctx, []string{"a", "b", "c"}); return err },
		func() error { return node.WaitReady(ctx) },
		func() error { return mine.Ensure(ctx, long*9/10-time.Second) },
		func() error {
			return node.Do(ctx, "held", func(context.Context, *coordinator.Lease) error { return nil })
		},
	}
	const each = 15
	errs := make(chan error, each*len(calls))
	for range each {
		for _, call := range calls {
			go func() { errs <- call() }()
		}
	}
	require.NoError(t, c.Await(ctx, "the acquires to be under way", func() bool {
		return node.Status().Requests >= 3*each+2
	}))
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		n.Close()
	}()
	for range cap(errs) {
		select {
		case err := <-errs:
			require.ErrorIs(t, err, coordinator.ErrClosed)
		case <-ctx.Done():
			require.FailNow(t, "a call is still blocked")
		}
	}
	<-closed
	requireAllClosed(t, everyCall(ctx, node, "key"))
	require.ErrorIs(t, mine.Err(), coordinator.ErrClosed)
	requireOpen(t, holder)
}

func TestCloseEndsAllLeasesAndTellsTheOthers(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	require.NoError(t, c.MoveLeader(patient(t), "key", 1))
	node := c.Node(1).Coordinator()
	lease := acquire(t, c.Node(1), "key")
	waiter := ask(t, c.Node(1), "held")
	set, err := node.AcquireAll(patient(t), []string{"a", "b"})
	require.NoError(t, err)
	waiter.granted()
	next := ask(t, c.Node(2), "key")
	awaitLine(t, c, c.Node(2), "key", 1)

	results := make([]error, 8)
	parallel(len(results), func(i int) { results[i] = node.Close() })
	for _, err := range results {
		require.NoError(t, err)
	}
	require.NoError(t, node.Close())
	for _, l := range []handle{lease, set} {
		require.False(t, l.Held())
		<-l.Done()
		require.ErrorIs(t, l.Err(), coordinator.ErrLeaseLost)
		require.ErrorIs(t, l.Err(), coordinator.ErrClosed)
		require.ErrorIs(t, context.Cause(l.Context()), coordinator.ErrClosed)
		require.ErrorIs(t, l.Release(patient(t)), coordinator.ErrLeaseLost)
	}
	require.Greater(t, next.granted().Token(), lease.Token(), "without waiting for an expiry")
	require.Zero(t, c.Node(2).Faults().ExpiriesProposed+c.Node(3).Faults().ExpiriesProposed)
	awaitOtherLeader(t, c, "key", 1)
	requireAllClosed(t, everyCall(patient(t), node, "key"))
	require.NoError(t, node.Shutdown(patient(t)))
	require.NoError(t, node.Status().Err)
}

func TestCloseWithoutAQuorumIsBounded(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	lease := acquire(t, c.Node(1), "key")
	c.Isolate(1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Node(1).Close()
	}()
	select {
	case <-done:
	case <-patient(t).Done():
		require.FailNow(t, "Close hangs")
	}
	require.ErrorIs(t, lease.Err(), coordinator.ErrClosed)
	awaitCut(t, c, 1)
}

func TestShutdownWaitsForTheHolders(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	require.NoError(t, c.MoveLeader(ctx, "key", 1))
	node := c.Node(1).Coordinator()
	lease := acquire(t, c.Node(1), "key")
	lost := acquire(t, c.Node(1), "limited", coordinator.WithMaxHold(5*long))
	other := acquire(t, c.Node(2), "other", coordinator.WithTTL(longer))
	waiter := ask(t, c.Node(1), "other", coordinator.WithTTL(longer))
	awaitLine(t, c, c.Node(2), "other", 1)

	var none context.Context
	require.ErrorIs(t, node.Shutdown(none), coordinator.ErrInvalid)
	short, cancel := context.WithTimeout(ctx, locktest.ElectionTimeout)
	defer cancel()
	err := node.Shutdown(short)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "held")
	require.ErrorIs(t, waiter.failed(), coordinator.ErrClosed)
	requireAllClosed(t, everyCall(ctx, node, "key"))
	requireOpen(t, lease)
	for range 5 { // held leases go on being renewed
		advance(c, long/2, 1)
		require.NoError(t, lease.Ensure(ctx, long*85/100))
	}
	advance(c, 2*long, 1)
	require.False(t, lost.Held(), "whoever loses its lease is not waited for")
	require.False(t, lease.Held())

	require.NoError(t, node.Shutdown(ctx))
	c.Node(1).Close()
	require.True(t, other.Held())
	awaitOtherLeader(t, c, "key", 1)
}

func TestShutdownEndsWhenTheLastHolderReleases(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	ctx := patient(t)
	node := c.Node(1).Coordinator()
	lease := acquire(t, c.Node(1), "key")
	done := make(chan error, 1)
	go func() { done <- node.Shutdown(ctx) }()
	require.NoError(t, c.Await(ctx, "new requests to be refused", func() bool {
		_, err := node.Inspect(ctx, "key")
		return errors.Is(err, coordinator.ErrClosed)
	}))
	select {
	case err := <-done:
		require.FailNow(t, "Shutdown did not wait", "%v", err)
	default:
	}
	require.NoError(t, lease.Release(ctx))
	require.NoError(t, <-done)
	require.ErrorIs(t, lease.Err(), coordinator.ErrReleased, "it was not lost")
}

func TestCloseConfirmsTheReleasesUnderWay(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	n := c.Node(1)
	for range 10 {
		lease := acquire(t, n, "key")
		released := make(chan error, 1)
		go func() { released <- lease.Release(patient(t)) }()
		awaitEnd(t, lease)
		began := time.Now()
		n.Close()
		// Close waits two election timeouts for the group. A machine that is too
		// busy for that leaves the caller in doubt, and says so.
		inTime := time.Since(began) < 2*coordinator.SingleElectionTimeout
		// Close may also have been first; but in time nobody is left in doubt.
		switch err := <-released; {
		case err == nil:
		case !inTime && errors.Is(err, coordinator.ErrClosed):
			require.Equal(t, coordinator.Unknown, outcomeOf(t, err))
		default:
			require.ErrorIs(t, err, coordinator.ErrLeaseLost)
		}
		n.Restart()
	}
}
