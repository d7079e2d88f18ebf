package coordinator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// Each counter of Status moves when that happens which it counts, and by as
// much.
func TestStatus(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3, locktest.WithConfig(func(_ int, cfg *coordinator.Config) { cfg.Limits.Queue = 1 }))
	ctx := patient(t)
	n := c.Node(1)
	node := n.Coordinator()
	require.NoError(t, c.MoveLeader(ctx, "key", 2))
	moves := func(t *testing.T, by uint64, count func(coordinator.Status) uint64, happen func()) {
		t.Helper()
		before := count(node.Status())
		happen()
		require.Equal(t, before+by, count(node.Status()))
	}
	t.Run("NamesTheNode", func(t *testing.T) {
		s := node.Status()
		require.Equal(t, "locktest", s.Cluster)
		require.Equal(t, coordinator.NodeID(1), s.NodeID)
		require.EqualValues(t, 1, s.Incarnation)
		require.NoError(t, s.Err)
		n.Restart()
		node = n.Coordinator()
		require.NoError(t, c.WaitReady(ctx))
		require.EqualValues(t, 2, node.Status().Incarnation)
	})
	t.Run("ShowsTheGroups", func(t *testing.T) {
		require.NoError(t, c.MoveLeader(ctx, "key", 2))
		lease := acquire(t, n, "key")
		waiter := ask(t, n, "key")
		awaitLine(t, c, n, "key", 1)
		s := node.Status()
		require.Equal(t, 2, s.Requests)
		require.Len(t, s.Groups, locktest.Groups)
		g := s.Groups[c.Group("key")-1]
		require.Equal(t, c.Group("key"), g.Group)
		require.Equal(t, coordinator.NodeID(2), g.Leader)
		require.NotZero(t, g.Term)
		require.NotZero(t, g.Applied)
		require.Equal(t, []int{1, 1, 1, 1}, []int{g.Leases, g.Waits, g.Keys, g.LongestQueue})
		for i := range g.Nodes {
			g.Nodes[i].Heard = 0
		}
		require.Equal(t, []coordinator.NodeStatus{{NodeID: 1, Incarnation: 2}, {NodeID: 2, Incarnation: 1}, {NodeID: 3, Incarnation: 1}}, g.Nodes)
		release(t, lease)
		release(t, waiter.granted())
		awaitNothingLeft(t, c)
	})
	t.Run("CountsWhatBecameOfAcquires", func(t *testing.T) {
		moves(t, 1, func(s coordinator.Status) uint64 { return s.Acquired }, func() { release(t, acquire(t, n, "key")) })
		holder := acquire(t, c.Node(2), "key")
		moves(t, 1, func(s coordinator.Status) uint64 { return s.Busy }, func() {
			moves(t, 1, func(s coordinator.Status) uint64 { return s.RefusedBusy }, func() {
				_, err := node.TryAcquire(ctx, "key")
				require.ErrorIs(t, err, coordinator.ErrBusy)
			})
		})
		moves(t, 1, func(s coordinator.Status) uint64 { return s.Timeouts }, func() {
			_, err := node.Acquire(ctx, "key", coordinator.WithWait(2*steadyElection))
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
		awaitLine(t, c, n, "key", 0)
		moves(t, 1, func(s coordinator.Status) uint64 { return s.Cancelled }, func() {
			waiter := ask(t, n, "key")
			awaitLine(t, c, n, "key", 1)
			moves(t, 1, func(s coordinator.Status) uint64 { return s.QueueFull }, func() {
				moves(t, 1, func(s coordinator.Status) uint64 { return s.RefusedQueueFull }, func() {
					_, err := node.Acquire(ctx, "key")
					require.ErrorIs(t, err, coordinator.ErrQueueFull)
				})
			})
			waiter.leave()
			require.ErrorIs(t, waiter.failed(), context.Canceled)
		})
		moves(t, 1, func(s coordinator.Status) uint64 { return s.OtherFailures }, func() {
			lease := acquire(t, n, "mine")
			_, err := node.Acquire(lease.Context(), "mine")
			require.ErrorIs(t, err, coordinator.ErrWouldDeadlock)
			release(t, lease)
		})
		release(t, holder)
	})
	t.Run("MeasuresWaitsAndHolds", func(t *testing.T) {
		before := node.Status()
		release(t, acquire(t, n, "key"))
		_, err := node.Acquire(ctx, "")
		require.ErrorIs(t, err, coordinator.ErrInvalid)
		after := node.Status()
		require.Equal(t, before.Waits.Count()+1, after.Waits.Count(), "what is refused at once did not wait")
		require.Equal(t, before.Holds.Count()+1, after.Holds.Count())
		require.Greater(t, after.Waits.Sum, before.Waits.Sum)
		require.Greater(t, after.Holds.Sum, before.Holds.Sum)
	})
	t.Run("CountsLosses", func(t *testing.T) {
		moves(t, 1, func(s coordinator.Status) uint64 { return s.LostWindow }, func() {
			lease := acquire(t, n, "key")
			advance(c, long, 1)
			require.False(t, lease.Held())
		})
		moves(t, 1, func(s coordinator.Status) uint64 { return s.LostLimit }, func() {
			lease := acquire(t, n, "key", coordinator.WithTTL(2*long), coordinator.WithMaxHold(long))
			advance(c, long, 1)
			require.False(t, lease.Held())
		})
		awaitNothingLeft(t, c)
		require.NoError(t, c.MoveLeader(ctx, "key", 2))
		moves(t, 1, func(s coordinator.Status) uint64 { return s.LostGroup }, func() {
			moves(t, 1, func(s coordinator.Status) uint64 { return s.Expiries }, func() {
				lease := acquire(t, n, "key")
				expireAtLeader(t, c, 2, "key", lease.Done())
			})
		})
	})
	t.Run("CountsBatchesAndWhatFails", func(t *testing.T) {
		lease := acquire(t, n, "key")
		before := node.Status()
		advance(c, long/2, 1)
		require.NoError(t, lease.Ensure(ctx, long*8/10))
		require.Greater(t, node.Status().Batches, before.Batches)

		before = node.Status()
		c.Isolate(1)
		_, err := node.TryAcquire(ctx, "key")
		require.ErrorIs(t, err, coordinator.ErrUnavailable)
		c.Heal()
		require.NoError(t, c.WaitReady(ctx))
		after := node.Status()
		require.Equal(t, before.Unavailable+1, after.Unavailable)
		require.Greater(t, after.Retries, before.Retries)
		require.Greater(t, after.RenewFailures, before.RenewFailures)
		require.True(t, lease.Held())

		leader, err := c.WaitLeader(ctx, "key")
		require.NoError(t, err)
		require.NoError(t, c.MoveLeader(ctx, "key", leader%3+1))
		require.NoError(t, c.Await(ctx, "the node to know the next leader", func() bool {
			return node.Status().LeaderChanges > after.LeaderChanges
		}))
	})
	t.Run("IsThereAfterClose", func(t *testing.T) {
		before := node.Status()
		n.Close()
		after := node.Status()
		require.Equal(t, before.Acquired, after.Acquired)
		require.NoError(t, after.Err)
	})
}
