package coordinator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

// How a holder learns that its lease is lost, and that it does not believe so
// without a reason.

func TestS01SilentPartition(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	lease, next, before := cutWhileHeld(t, c, 0, func() {
		for _, other := range []int{2, 3} {
			c.BlackHole(1, other)
			c.BlackHole(other, 1)
		}
	})
	second := next.granted()
	require.False(t, lease.Held(), "not later than the next owner")
	awaitEnd(t, lease)
	require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
	require.Greater(t, second.Token(), lease.Token())
	require.Greater(t, droppedAt(c, 1), before.dropped)
	require.Greater(t, c.Faults().ExpiriesProposed, before.expiries)
}

func TestS03ALateRenewalTakesNothingBack(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	lease := acquire(t, c.Node(1), "key")
	c.Node(1).Clock().Freeze() // its own clock will never tell it
	c.Isolate(1)
	next := ask(t, c.Node(2), "key", coordinator.WithTTL(longer))
	letPass(t, c, 2*long, 2, 3)
	release(t, next.granted()) // the key is free again

	require.True(t, lease.Held(), "the pause was not counted by its clock")
	c.Heal()
	c.Node(1).Clock().Thaw()
	awaitEnd(t, lease)
	require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
	require.ErrorIs(t, lease.Ensure(ctx, 1), coordinator.ErrLeaseLost)
	require.Nil(t, inspect(t, c.Node(1), "key").Holder, "no renewal took it again")
	again := acquire(t, c.Node(1), "key")
	require.Greater(t, again.Token(), next.lease.Token())
	require.False(t, lease.Held(), "a lease that is lost stays lost")
}

func TestS05AShortElectionDoesNotCostTheLock(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	lease := acquire(t, c.Node(1), "key")
	first := lease.Token()
	for _, leader := range []int{2, 3, 2} {
		require.NoError(t, c.MoveLeader(ctx, "key", leader))
		changes := c.Faults().LeaderChanges
		c.Node(leader).Kill()
		next, err := c.WaitLeader(ctx, "key")
		require.NoError(t, err)
		require.NotEqual(t, leader, next)
		require.Greater(t, c.Faults().LeaderChanges, changes)
		advance(c, long/4, 1, 5-leader) // a renewal is due
		require.NoError(t, lease.Ensure(ctx, long*85/100), "renewals move to the next leader")
		c.Node(leader).Restart()
		require.NoError(t, c.WaitReady(ctx))
	}
	requireOpen(t, lease)
	require.Equal(t, first, lease.Token())
}

func TestS06TheEndOfANodeEndsAllItsLeasesAtOnce(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		name string
		end  func(*locktest.Cluster)
		is   error // besides ErrLeaseLost
		not  error
	}{
		{"ByClose", func(c *locktest.Cluster) { c.Node(1).Close() }, coordinator.ErrClosed, coordinator.ErrReleased},
		{"ByItsClock", func(c *locktest.Cluster) { advance(c, long, 1) }, coordinator.ErrLeaseLost, coordinator.ErrClosed},
	} {
		t.Run(end.name, func(t *testing.T) {
			c := newSteadyCluster(t, 3)
			var leases []*coordinator.Lease
			for group := 1; group <= 3; group++ {
				leases = append(leases, acquire(t, c.Node(1), c.KeyIn(group, "key")))
			}
			end.end(c)
			for _, lease := range leases {
				require.False(t, lease.Held())
				require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
				require.ErrorIs(t, lease.Err(), end.is)
				require.NotErrorIs(t, lease.Err(), end.not)
				select {
				case <-lease.Done():
				default:
					require.FailNow(t, "Done is not closed")
				}
			}
			for _, lease := range leases {
				require.Greater(t, acquire(t, c.Node(2), lease.Key()).Token(), lease.Token())
			}
		})
	}
}

func TestS26ThePausedHolderIsRefusedByTheResource(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	register := token.NewGuard()
	lease := acquire(t, c.Node(1), "key")
	// The node stands still, its clocks too.
	c.Isolate(1)
	c.Node(1).Clock().Freeze()
	next := ask(t, c.Node(2), "key", coordinator.WithTTL(longer))
	letPass(t, c, 2*long, 2, 3)
	second := next.granted()
	require.NoError(t, register.Accept("resource", second.Token()))

	require.True(t, lease.Held(), "it can't know better: only the resource can")
	require.ErrorIs(t, register.Accept("resource", lease.Token()), token.ErrStale)
	c.Node(1).Clock().Thaw()
	advance(c, 2*long, 1) // a clock that counts the pause
	require.False(t, lease.Held(), "at the first question")
	require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
}

func TestS27TheTokenStaysTheSame(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	lease := acquire(t, c.Node(1), "key")
	first := lease.Token()
	require.NotZero(t, first)
	before := batches(c.Node(1))
	for i := range 10 {
		if i%4 == 1 {
			leader, err := c.WaitLeader(ctx, "key")
			require.NoError(t, err)
			require.NoError(t, c.MoveLeader(ctx, "key", leader%3+1))
		}
		advance(c, long/4, 1)
		require.NoError(t, lease.Ensure(ctx, long*85/100))
		require.Equal(t, first, lease.Token())
	}
	require.GreaterOrEqual(t, batches(c.Node(1)), before+10)
	require.NotZero(t, c.Faults().LeaderChanges)
}

func TestS66ARenewalThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	t.Run("AndTheLeaseIsKept", func(t *testing.T) {
		c := newSteadyCluster(t, 3)
		ctx := patient(t)
		require.NoError(t, c.MoveLeader(ctx, "key", 2))
		lease := acquire(t, c.Node(1), "key")
		c.BlackHole(1, 2)
		advance(c, long/4, 1) // a renewal is due
		select {
		case <-lease.Endangered():
		case <-ctx.Done():
			require.FailNow(t, "no renewal failed")
		}
		require.Equal(t, coordinator.Endangered, lease.State())
		require.True(t, lease.Held())
		awaitDropped(t, c, 1, 2)
		c.Heal()
		require.NoError(t, c.Await(ctx, "renewing to work again", func() bool { return lease.State() == coordinator.Active }))
		requireOpen(t, lease)
		status := c.Node(1).Coordinator().Status()
		require.NotZero(t, status.RenewFailures)
		require.NotZero(t, status.Retries)
	})
	t.Run("ButNotWhenTheGroupNoLongerHasTheLease", func(t *testing.T) {
		c := newCluster(t, 3)
		lease := acquire(t, c.Node(1), "key")
		expireAtLeader(t, c, 2, "key", lease.Done())
		require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
		status := c.Node(1).Coordinator().Status()
		require.EqualValues(t, 1, status.LostGroup)
		require.EqualValues(t, 1, status.Expiries)
		require.Zero(t, status.LostWindow)
		awaitNothingLeft(t, c)
	})
}

func TestS156TheContextOfAnAcquireBoundsTheWaitOnly(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	ctx, cancel := context.WithCancel(patient(t))
	lease, err := c.Node(1).Coordinator().Acquire(ctx, "key")
	require.NoError(t, err)
	cancel()
	before := batches(c.Node(1))
	for range 6 { // 3 times the TTL
		advance(c, long/2, 1)
		require.NoError(t, lease.Ensure(patient(t), long*85/100))
	}
	requireOpen(t, lease)
	require.NoError(t, lease.Context().Err())
	require.GreaterOrEqual(t, batches(c.Node(1)), before+6, "it was renewed")
}
