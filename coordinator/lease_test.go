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

func TestLeaseContext(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	type valueKey struct{}
	with := context.WithValue(patient(t), valueKey{}, "of the acquire")
	take := func(t *testing.T) *coordinator.Lease {
		t.Helper()
		lease, err := c.Node(1).Coordinator().Acquire(with, "key")
		require.NoError(t, err)
		return lease
	}
	t.Run("HasTheValuesOfTheAcquire", func(t *testing.T) {
		lease := take(t)
		require.Equal(t, "of the acquire", lease.Context().Value(valueKey{}))
		_, has := lease.Context().Deadline()
		require.False(t, has)
		release(t, lease)
	})
	t.Run("ItsCauseIsTheRelease", func(t *testing.T) {
		lease := take(t)
		require.NoError(t, context.Cause(lease.Context()))
		release(t, lease)
		<-lease.Context().Done()
		require.ErrorIs(t, lease.Context().Err(), context.Canceled)
		require.ErrorIs(t, context.Cause(lease.Context()), coordinator.ErrReleased)
	})
	t.Run("ItsCauseIsTheLoss", func(t *testing.T) {
		lease := take(t)
		advance(c, long, 1)
		require.Error(t, lease.Context().Err(), "it looks at the clock itself")
		require.ErrorIs(t, context.Cause(lease.Context()), coordinator.ErrLeaseLost)
		require.ErrorContains(t, context.Cause(lease.Context()), "window")
	})
	t.Run("ABoundOneEndsWithItsParent", func(t *testing.T) {
		lease := take(t)
		reason := errors.New("enough")
		parent, cancel := context.WithCancelCause(context.WithValue(patient(t), valueKey{}, "of the parent"))
		bound, unbind := lease.Bind(parent)
		defer unbind()
		require.Equal(t, "of the parent", bound.Value(valueKey{}))
		require.NoError(t, bound.Err())
		cancel(reason)
		<-bound.Done()
		require.ErrorIs(t, context.Cause(bound), reason)
		requireOpen(t, lease)
		release(t, lease)
	})
	t.Run("ABoundOneEndsWithTheLease", func(t *testing.T) {
		lease := take(t)
		released, unbind := lease.Bind(patient(t))
		defer unbind()
		release(t, lease)
		<-released.Done()
		require.ErrorIs(t, context.Cause(released), coordinator.ErrReleased)

		lease = take(t)
		lost, unbind := lease.Bind(patient(t))
		defer unbind()
		advance(c, long, 1)
		require.Error(t, lost.Err(), "it looks at the clock itself")
		require.ErrorIs(t, context.Cause(lost), coordinator.ErrLeaseLost)
	})
	t.Run("UnbindEndsTheBoundOneAlone", func(t *testing.T) {
		lease := take(t)
		bound, unbind := lease.Bind(patient(t))
		unbind()
		<-bound.Done()
		require.ErrorIs(t, context.Cause(bound), context.Canceled)
		requireOpen(t, lease)
		release(t, lease)
	})
}

func TestLeaseRelease(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	require.NoError(t, c.MoveLeader(patient(t), "key", 2))
	t.Run("ASecondOneReturnsNil", func(t *testing.T) {
		lease := acquire(t, c.Node(1), "key")
		for range 3 {
			release(t, lease)
			require.Equal(t, coordinator.Released, lease.State())
		}
	})
	t.Run("EndsTheOwnershipHereFirst", func(t *testing.T) {
		lease := acquire(t, c.Node(1), "key")
		c.Isolate(1)
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		err := lease.Release(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, coordinator.Unknown, outcomeOf(t, err))
		require.False(t, lease.Held())
		<-lease.Done()
		<-lease.Endangered()
		require.Equal(t, coordinator.Releasing, lease.State())
		require.NotNil(t, inspect(t, c.Node(2), "key").Holder)
		c.Heal()
		release(t, lease)
		require.Equal(t, coordinator.Released, lease.State())
		require.Nil(t, inspect(t, c.Node(2), "key").Holder)
	})
	t.Run("ItsOwnContextDoesNotCutItShort", func(t *testing.T) {
		lease := acquire(t, c.Node(1), "key")
		require.NoError(t, lease.Release(lease.Context()))
		lease = acquire(t, c.Node(1), "key")
		bound, unbind := lease.Bind(patient(t))
		defer unbind()
		require.NoError(t, lease.Release(bound))
		require.Nil(t, inspect(t, c.Node(2), "key").Holder)
	})
	t.Run("WithoutAContextItIsRefused", func(t *testing.T) {
		lease := acquire(t, c.Node(1), "key")
		var none context.Context
		require.ErrorIs(t, lease.Release(none), coordinator.ErrInvalid)
		requireOpen(t, lease)
		release(t, lease)
	})
}

func TestLeaseEnsure(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	lease := acquire(t, c.Node(1), "key")
	const window = long * 9 / 10
	t.Run("SendsNothingWhileEnoughRemains", func(t *testing.T) {
		before := batches(c.Node(1))
		require.NoError(t, lease.Ensure(ctx, window/2))
		require.NoError(t, lease.Ensure(ctx, -1))
		require.Equal(t, before, batches(c.Node(1)))
	})
	t.Run("RenewsWhenLessRemains", func(t *testing.T) {
		advance(c, window/10, 1)
		require.Less(t, lease.Remaining(), window*95/100)
		before := batches(c.Node(1))
		require.NoError(t, lease.Ensure(ctx, window*95/100))
		require.Greater(t, batches(c.Node(1)), before)
		require.GreaterOrEqual(t, lease.Remaining(), window*95/100-patience)
		require.LessOrEqual(t, lease.Remaining(), window)
	})
	t.Run("RefusesMoreThanCanRemain", func(t *testing.T) {
		err := lease.Ensure(ctx, window+1)
		require.ErrorIs(t, err, coordinator.ErrInvalid)
		requireOpen(t, lease)
	})
	t.Run("DoesNotAddToAMaxHold", func(t *testing.T) {
		limited := acquire(t, c.Node(1), "limited", coordinator.WithMaxHold(long/2))
		require.LessOrEqual(t, limited.Remaining(), window/2)
		require.ErrorIs(t, limited.Ensure(ctx, window*3/4), coordinator.ErrInvalid)
		release(t, limited)
	})
	t.Run("IsUnavailableWithoutAQuorum", func(t *testing.T) {
		c.Isolate(1)
		advance(c, window/2, 1)
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		err := lease.Ensure(short, window*95/100)
		require.ErrorIs(t, err, coordinator.ErrUnavailable)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		requireOpen(t, lease)
	})
	t.Run("EndsWithTheLease", func(t *testing.T) {
		waiting := make(chan error, 1)
		go func() { waiting <- lease.Ensure(ctx, window*95/100) }()
		advance(c, window/2, 1)
		require.False(t, lease.Held())
		require.ErrorIs(t, <-waiting, coordinator.ErrLeaseLost)
		c.Heal()
		other := acquire(t, c.Node(1), "key")
		release(t, other)
		require.ErrorIs(t, other.Ensure(ctx, 1), coordinator.ErrReleased)
	})
}

func TestWithMaxHold(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	require.NoError(t, c.MoveLeader(ctx, "key", 2))
	t.Run("TheHolderLearnsItFromItsClock", func(t *testing.T) {
		lease := acquire(t, c.Node(1), "key", coordinator.WithTTL(2*long), coordinator.WithMaxHold(long))
		advance(c, long/2, 1)
		require.NoError(t, lease.Ensure(ctx, long/10))
		require.True(t, lease.Held())
		advance(c, long*4/10, 1)
		require.False(t, lease.Held(), "however well it is renewed")
		require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
		require.ErrorContains(t, lease.Err(), "max hold")
		require.EqualValues(t, 1, c.Node(1).Coordinator().Status().LostLimit)
		awaitNothingLeft(t, c)
	})
	t.Run("TheGroupGivesTheKeyOnByItself", func(t *testing.T) {
		lease := acquire(t, c.Node(1), "key", coordinator.WithTTL(2*long), coordinator.WithMaxHold(long))
		next := ask(t, c.Node(3), "key", coordinator.WithTTL(10*long))
		awaitLine(t, c, c.Node(3), "key", 1)
		proposed := c.Faults().ExpiriesProposed
		letPass(t, c, long, 2) // by the leader's clock alone
		underLeader(t, c, 2, "key", next.done)
		require.Greater(t, next.granted().Token(), lease.Token())
		require.Greater(t, c.Faults().ExpiriesProposed, proposed)
		awaitEnd(t, lease)
		require.ErrorContains(t, lease.Err(), "max hold")
	})
}

func TestWithWaitBoundsTheWaitOnly(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	holder := acquire(t, c.Node(1), "key")
	err := timedOut(t, c.Node(1), "key")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, coordinator.ErrUnavailable)
	require.NoError(t, patient(t).Err())
	release(t, holder)
	lease := acquire(t, c.Node(1), "key", coordinator.WithWait(patience))
	_, has := lease.Context().Deadline()
	require.False(t, has)
	advance(c, long/2, 1)
	require.NoError(t, lease.Ensure(patient(t), long*8/10))
}

func TestReleaseKeepsToTheDeadlineOfAContextThatComesFromTheLease(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	lease := acquire(t, c.Node(1), "key")
	c.Isolate(1)
	ctx, cancel := context.WithTimeout(lease.Context(), locktest.ElectionTimeout)
	defer cancel()
	released := make(chan error, 1)
	go func() { released <- lease.Release(ctx) }()
	select {
	case err := <-released:
		require.ErrorIs(t, err, context.DeadlineExceeded)
	case <-patient(t).Done():
		require.FailNow(t, "Release waits for the TTL")
	}
	awaitCut(t, c, 1)
}

func TestEnsureOfTheWholeWindowIsRefused(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	lease := acquire(t, c.Node(1), "key")
	require.ErrorIs(t, lease.Ensure(patient(t), long*9/10), coordinator.ErrInvalid)
	require.NoError(t, lease.Ensure(patient(t), long*9/10-time.Minute))
}
