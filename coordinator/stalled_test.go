package coordinator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// A node whose loops stand still while its links work.

// The leader's apply loop stands still, and its node goes on renewing in a log
// whose entries it does not see.
func TestS13AStalledLeaderConfirmsNoRenewal(t *testing.T) {
	t.Parallel()
	c := newGatedCluster(t)
	ctx := patient(t)
	a, b := c.node(1), c.node(2)
	c.lead(1)
	lease, err := a.Acquire(ctx, "key")
	require.NoError(t, err)
	a.apply.shut()
	next := make(chan *coordinator.Lease, 1)
	go func() {
		second, err := b.Acquire(ctx, "key")
		if err != nil {
			t.Errorf("the next owner: %v", err)
		}
		next <- second
	}()
	a.apply.awaitBlocked(t)
	stalled := a.applied()

	c.advance(long/2, 1, 2, 3)
	renewed := make(chan error, 1)
	go func() { renewed <- lease.Ensure(ctx, long*85/100) }()
	c.eventually("the others to have a leader of their own", func() bool {
		c.advance(long/2, 1, 2, 3)
		return b.leader() != 1 && b.leader() != 0
	})
	c.eventually("the expiry", func() bool {
		c.advance(long/2, 1, 2, 3)
		return len(next) == 1
	})
	require.False(t, lease.Held(), "not later than the next owner")
	require.ErrorIs(t, <-renewed, coordinator.ErrLeaseLost)
	require.Equal(t, stalled, a.applied(), "it stands still")
	second := <-next
	require.Greater(t, second.Token(), lease.Token())
	require.NotZero(t, b.controls.Faults(1).ExpiriesProposed+c.node(3).controls.Faults(1).ExpiriesProposed)

	a.apply.lift()
	require.NoError(t, a.WaitReady(ctx))
	require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost, "it stays lost")
	require.ErrorIs(t, lease.Ensure(ctx, 1), coordinator.ErrLeaseLost)
	require.NoError(t, second.Release(ctx))
}

// A node is paused between the making of a request and its sending. What it
// gets then counts from the grant, not from the making.
func TestS17ARequestThatWasHeldBackIsNotGrantedForThePast(t *testing.T) {
	t.Parallel()
	c := newGatedCluster(t)
	ctx := patient(t)
	a, b := c.node(1), c.node(2)
	c.lead(3)
	a.batches.shut()
	first := make(chan *coordinator.Lease, 1)
	go func() {
		lease, err := a.Acquire(ctx, "key")
		if err != nil {
			t.Errorf("the request that was held back: %v", err)
		}
		first <- lease
	}()
	a.batches.awaitBlocked(t)

	// Meanwhile another owner comes and is let go, and three TTLs pass.
	gone, err := b.Acquire(ctx, "key", coordinator.WithMaxHold(long))
	require.NoError(t, err)
	c.advance(3*long, 1, 2, 3)
	c.eventually("the key to be free", func() bool {
		info, err := b.Inspect(ctx, "key")
		return err == nil && info.Holder == nil
	})
	require.NotZero(t, c.node(3).controls.Faults(1).ExpiriesProposed)
	require.Empty(t, first)

	a.batches.lift()
	lease := <-first
	require.True(t, lease.Held())
	require.Greater(t, lease.Remaining(), long/2, "a whole window")
	require.Greater(t, lease.Token(), gone.Token()+1, "the first grant came too late and was given back")
	third := make(chan *coordinator.Lease, 1)
	go func() {
		lease, err := c.node(3).Acquire(ctx, "key")
		if err != nil {
			t.Errorf("the third: %v", err)
		}
		third <- lease
	}()
	c.eventually("the third to be in line", func() bool {
		info, err := b.Inspect(ctx, "key")
		return err == nil && len(info.Waiters) == 1 && info.Holder.Token == lease.Token()
	})
	require.NoError(t, lease.Release(ctx))
	require.Greater(t, (<-third).Token(), lease.Token())
}

// A node becomes the leader that has not applied what was committed before.
func TestS19AFreshLeaderDecidesNothingOnAnOldState(t *testing.T) {
	t.Parallel()
	c := newGatedCluster(t)
	ctx := patient(t)
	one, fresh, third := c.node(1), c.node(2), c.node(3)
	c.lead(1)
	fresh.apply.shut()
	_, err := one.Acquire(ctx, "filler")
	require.NoError(t, err)
	fresh.apply.awaitBlocked(t)

	// The acquire is committed by nodes 1 and 2. Without it in its log, node 3
	// can't be elected.
	c.network.Isolate(c.address(3))
	lease, err := one.Acquire(ctx, "key")
	require.NoError(t, err)
	fence, committed := lease.Token(), one.applied()
	require.Less(t, fresh.applied(), committed)
	require.Less(t, third.applied(), committed)
	require.NoError(t, one.controls.Kill())
	c.network.Rejoin(c.address(3))
	c.eventually("node 2 to lead", func() bool { return third.leader() == 2 })
	require.Less(t, fresh.applied(), committed, "it leads with what it has not applied")

	_, err = fresh.TryAcquire(ctx, "key")
	require.ErrorIs(t, err, coordinator.ErrUnavailable)
	_, err = fresh.Inspect(ctx, "key")
	require.ErrorIs(t, err, coordinator.ErrUnavailable)
	var busy *coordinator.BusyError
	_, err = third.TryAcquire(ctx, "key")
	require.ErrorAs(t, err, &busy)
	require.Equal(t, fence, busy.Holders[0].Token)

	fresh.apply.lift()
	require.NoError(t, fresh.WaitReady(ctx))
	info, err := fresh.Inspect(ctx, "key")
	require.NoError(t, err)
	require.Equal(t, fence, info.Holder.Token)
	_, err = fresh.TryAcquire(ctx, "key")
	require.ErrorAs(t, err, &busy)
	require.Equal(t, fence, busy.Holders[0].Token)
}
