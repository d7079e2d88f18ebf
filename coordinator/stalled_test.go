package coordinator_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
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
		second, err := b.Acquire(ctx, "key", coordinator.WithTTL(longer))
		if err != nil {
			t.Errorf("the next owner: %v", err)
		}
		next <- second
	}()
	a.apply.awaitBlocked(t)
	stalled := a.applied()

	c.advance(long/2, 1)
	renewed := make(chan error, 1)
	go func() { renewed <- lease.Ensure(ctx, long*85/100) }()
	c.eventually("the others to apply the renewal", func() bool { return b.applied() > stalled+1 })
	c.eventually("the others to have another leader", func() bool {
		_ = a.controls.Lead(1, 2) // a wish
		return b.leader() == 2 && c.node(3).leader() == 2
	})
	require.Empty(t, renewed, "committed, and still not confirmed")
	require.Empty(t, next)

	c.advance(2*long, 1, 2, 3)
	c.eventually("the next owner", func() bool { return len(next) == 1 })
	require.False(t, lease.Held(), "not later than the next owner")
	require.ErrorIs(t, <-renewed, coordinator.ErrLeaseLost)
	require.Equal(t, stalled, a.applied(), "it stands still")
	second := <-next
	require.Greater(t, second.Token(), lease.Token())

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
	require.NoError(t, c.node(3).WaitReady(ctx), "it counts from before that")
	c.advance(3*long, 1, 3) // the owner's own clock would make it give the key back
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
	// undecided says that a node has no answer, and above all no wrong one.
	undecided := func(t *testing.T, n *gatedNode) {
		t.Helper()
		_, err := n.TryAcquire(patient(t), "key")
		require.ErrorIs(t, err, coordinator.ErrUnavailable)
		_, err = n.Inspect(patient(t), "key")
		require.ErrorIs(t, err, coordinator.ErrUnavailable)
	}
	holder := func(t *testing.T, n *gatedNode) token.Token {
		t.Helper()
		require.NoError(t, n.WaitReady(patient(t)))
		info, err := answered(t, func(ctx context.Context) (coordinator.KeyInfo, error) { return n.Inspect(ctx, "key") })
		require.NoError(t, err)
		require.NotNil(t, info.Holder)
		var busy *coordinator.BusyError
		_, err = answered(t, func(ctx context.Context) (*coordinator.Lease, error) { return n.TryAcquire(ctx, "key") })
		require.ErrorAs(t, err, &busy)
		require.Equal(t, info.Holder.Token, busy.Holders[0].Token)
		return info.Holder.Token
	}
	// Without the acquire in its log, node 3 can't be elected in these.
	t.Run("ThatItKnowsToBeCommitted", func(t *testing.T) {
		c := newGatedCluster(t)
		one, fresh, third := c.node(1), c.node(2), c.node(3)
		c.lead(1)
		fresh.apply.shut()
		_, err := one.Acquire(patient(t), "filler")
		require.NoError(t, err)
		fresh.apply.awaitBlocked(t)
		c.network.Isolate(c.address(3))
		lease, err := one.Acquire(patient(t), "key")
		require.NoError(t, err)
		fence, committed := lease.Token(), one.applied()
		require.NoError(t, one.controls.Kill())
		c.network.Rejoin(c.address(3))

		undecided(t, fresh)
		undecided(t, third)
		require.Less(t, fresh.applied(), committed)
		fresh.apply.lift()
		require.Equal(t, fence, holder(t, fresh))
		require.Equal(t, fence, holder(t, third))
		require.Equal(t, 2, third.leader())
	})
	t.Run("ThatIsCommittedByItsOwnElection", func(t *testing.T) {
		for tries := 1; ; tries++ {
			c, fence, arrived := electedWithWhatNobodyKnows(t)
			if !arrived {
				require.Less(t, tries, 5, "node 2 never had the acquire")
				continue
			}
			fresh, third := c.node(2), c.node(3)
			require.Less(t, fresh.applied(), third.applied(), "it leads with what it has not applied")
			undecided(t, fresh)
			fresh.apply.lift()
			require.Equal(t, fence, holder(t, fresh))
			require.Equal(t, fence, holder(t, third))
			return
		}
	})
}

// electedWithWhatNobodyKnows returns a cluster whose node 2, which applies nothing,
// leads since the death of node 1. It commits an acquire that node 1 has sent to it
// alone, and whose token node 3 knows by that. arrived says that it did: it may
// have got lost with node 1.
func electedWithWhatNobodyKnows(t *testing.T) (c *gatedCluster, fence token.Token, arrived bool) {
	t.Helper()
	c = newGatedCluster(t)
	one, fresh, third := c.node(1), c.node(2), c.node(3)
	c.lead(1)
	fresh.apply.shut()
	// Node 2 gets the acquires, and node 1 never hears of that.
	c.network.Isolate(c.address(3))
	c.network.BlackHole(c.address(2), c.address(1))
	var asking sync.WaitGroup
	for _, key := range []string{"filler", "key"} {
		sent := one.Status().Batches
		asking.Add(1)
		go func() {
			defer asking.Done()
			_, _ = one.Acquire(context.Background(), key) // ends with its node
		}()
		c.eventually("the acquire to be sent", func() bool { return one.Status().Batches > sent })
	}
	traffic := func() uint64 { return c.network.Stats(c.address(1), c.address(2)).Delivered }
	sent := traffic()
	c.eventually("it to arrive", func() bool { return traffic() > sent+2 })
	c.eventually("the answer to get lost", func() bool {
		return c.network.Stats(c.address(2), c.address(1)).Dropped > 0
	})
	require.NoError(t, one.controls.Kill())
	asking.Wait()
	c.network.Rejoin(c.address(3))

	c.eventually("another leader", func() bool { return third.leader() > 1 })
	if third.leader() == 3 {
		return c, 0, false // its log was as long
	}
	fresh.apply.awaitBlocked(t)
	require.NoError(t, third.WaitReady(patient(t)))
	info, err := answered(t, func(ctx context.Context) (coordinator.KeyInfo, error) { return third.Inspect(ctx, "key") })
	require.NoError(t, err)
	if info.Holder == nil {
		return c, 0, false
	}
	return c, info.Holder.Token, true
}
