package coordinator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// What is left of those who ask and don't get.

// A try is decided as busy, and its node is cut off at that moment: before the
// answer, or right after it.
func TestS32ATryThatIsCutOffLeavesNoWaiter(t *testing.T) {
	t.Parallel()
	for _, cut := range []struct {
		name  string
		apply func(c *locktest.Cluster)
		after bool
	}{
		{"BeforeTheAnswer", func(c *locktest.Cluster) { c.BlackHole(1, 2) }, false},
		{"AfterTheAnswer", func(c *locktest.Cluster) { c.Isolate(2) }, true},
	} {
		t.Run(cut.name, func(t *testing.T) {
			c := newSteadyCluster(t, 3)
			ctx := patient(t)
			require.NoError(t, c.MoveLeader(ctx, "key", 1))
			lease := acquire(t, c.Node(1), "key")
			group := c.Group("key")
			applied := func() uint64 { return c.Node(1).Coordinator().Status().Groups[group-1].Applied }
			before := applied()
			if !cut.after {
				cut.apply(c)
			}
			var err error
			if cut.after {
				_, err = try(t, c.Node(2), "key")
				require.ErrorIs(t, err, coordinator.ErrBusy)
				cut.apply(c)
			} else {
				_, err = c.Node(2).Coordinator().TryAcquire(ctx, "key")
				require.ErrorIs(t, err, coordinator.ErrUnavailable)
				awaitDropped(t, c, 1, 2)
			}
			require.Greater(t, applied(), before, "the try was decided")
			require.Empty(t, inspect(t, c.Node(1), "key").Waiters)
			third := ask(t, c.Node(3), "key")
			awaitLine(t, c, c.Node(1), "key", 1)
			c.Heal()
			release(t, lease)
			require.Equal(t, lease.Token()+1, third.granted().Token(), "nobody was granted in between")
			require.NoError(t, c.WaitReady(ctx))
			require.Empty(t, inspect(t, c.Node(2), "key").Waiters)
			release(t, third.lease)
			awaitNothingLeft(t, c)
		})
	}
}

func TestS38TwoWaitsOfOneNodeOnOneKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	for range 5 {
		lease := acquire(t, c.Node(2), "key")
		first := ask(t, c.Node(1), "key")
		awaitLine(t, c, c.Node(2), "key", 1)
		second := ask(t, c.Node(1), "key")
		awaitLine(t, c, c.Node(2), "key", 2)
		first.leave()
		require.ErrorIs(t, first.failed(), context.Canceled)
		awaitLine(t, c, c.Node(2), "key", 1)
		second.waits()
		release(t, lease)
		got := second.granted()
		require.Greater(t, got.Token(), lease.Token())
		require.Equal(t, got.Token(), inspect(t, c.Node(3), "key").Holder.Token)
		requireOpen(t, got)
		release(t, got)
	}
	awaitNothingLeft(t, c)
}
