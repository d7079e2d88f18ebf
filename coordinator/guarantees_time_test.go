package coordinator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// The guarantees about time: when a lease is lost, and when it is not.

func TestG3LossNeedsNoMessage(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	for question, ask := range map[string]func(*coordinator.Lease) bool{
		"Held":       func(l *coordinator.Lease) bool { return !l.Held() },
		"Err":        func(l *coordinator.Lease) bool { return l.Err() != nil },
		"State":      func(l *coordinator.Lease) bool { return l.State() == coordinator.Lost },
		"Remaining":  func(l *coordinator.Lease) bool { return l.Remaining() == 0 },
		"ContextErr": func(l *coordinator.Lease) bool { return l.Context().Err() != nil },
	} {
		t.Run(question+"KnowsAtTheFirstQuestion", func(t *testing.T) {
			lease := acquire(t, c.Node(1), "key")
			require.False(t, ask(lease))
			advance(c, long, 1)
			require.True(t, ask(lease))
			require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
			awaitEnd(t, lease)
		})
	}
	t.Run("TheWindowEndsBeforeTheNextOwnerAtClocksFivePercentOff", func(t *testing.T) {
		c.Node(1).Clock().SetRate(0.95)
		c.Node(2).Clock().SetRate(1.05)
		c.Node(3).Clock().SetRate(1.05)
		lease, next, before := cutWhileHeld(t, c, 0, func() { c.Isolate(1) })
		second := next.granted()
		require.False(t, lease.Held())
		require.Greater(t, second.Token(), lease.Token())
		require.Greater(t, droppedAt(c, 1), before.dropped)
	})
}

func TestG4ExpiryIsDecidedInTheLog(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	require.NoError(t, c.MoveLeader(ctx, "key", 2))
	lost := acquire(t, c.Node(1), "key")
	c.Node(1).Kill()
	next := ask(t, c.Node(2), "key", coordinator.WithTTL(longer))
	awaitLine(t, c, c.Node(2), "key", 1)

	// The clock of a replica that does not lead decides nothing.
	advance(c, 10*long, 3)
	other := acquire(t, c.Node(3), "elsewhere")
	release(t, other)
	next.waits()
	require.Zero(t, c.Faults().ExpiriesProposed)

	// The leader's clock makes it propose. All replicas do the same with the
	// entry, whatever their clocks show.
	c.Node(3).Clock().Freeze()
	advance(c, 2*long, 2)
	underLeader(t, c, 2, "key", next.done)
	require.Greater(t, next.granted().Token(), lost.Token())
	require.NotZero(t, c.Faults().ExpiriesProposed)
	require.NoError(t, c.WaitEqualDumps(ctx))
}

func TestG5AFailoverDoesNotCostTheLock(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	const ttl = long
	lease := acquire(t, c.Node(1), "key")
	first := lease.Token()
	for _, leader := range []int{2, 3} {
		require.NoError(t, c.MoveLeader(ctx, "key", leader))
		require.NoError(t, lease.Ensure(ctx, ttl*85/100))
		changes := c.Faults().LeaderChanges
		c.Node(leader).Kill()
		advance(c, ttl/2-patience, 1, 5-leader) // as if the election took that much longer
		_, err := c.WaitLeader(ctx, "key")
		require.NoError(t, err)
		require.Greater(t, c.Faults().LeaderChanges, changes)
		require.NoError(t, lease.Ensure(ctx, ttl*85/100), "it is renewed through the next leader")
		requireOpen(t, lease)
		c.Node(leader).Restart()
		require.NoError(t, c.WaitReady(ctx))
	}
	require.Equal(t, first, lease.Token())
	require.Zero(t, c.Faults().ExpiriesProposed)
}

func TestG6TheDeadAreLetGo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	require.NoError(t, c.MoveLeader(ctx, "key", 1))
	dead := acquire(t, c.Node(1), "key")
	next := ask(t, c.Node(2), "key", coordinator.WithTTL(longer))
	awaitLine(t, c, c.Node(2), "key", 1)
	c.Node(1).Kill() // the holder's node led the group, too
	_, err := c.WaitLeader(ctx, "key")
	require.NoError(t, err)
	require.Equal(t, dead.Token(), inspect(t, c.Node(2), "key").Holder.Token)
	next.waits()

	// No time passes that counts but this: 2*T after the node was last heard.
	letPass(t, c, 2*long, 2, 3)
	require.Greater(t, next.granted().Token(), dead.Token())
	require.NotZero(t, c.Faults().ExpiriesProposed)
}
