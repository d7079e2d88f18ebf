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
			c := locktest.New(t, 3)
			ctx := patient(t)
			require.NoError(t, c.MoveLeader(ctx, "key", 1))
			lease := acquire(t, c.Node(1), "key", coordinator.WithTTL(long))
			group := c.Group("key")
			applied := func() uint64 { return c.Node(1).Coordinator().Status().Groups[group-1].Applied }
			before := applied()
			if !cut.after {
				cut.apply(c)
			}
			_, err := c.Node(2).Coordinator().TryAcquire(ctx, "key", coordinator.WithTTL(long))
			if cut.after {
				require.ErrorIs(t, err, coordinator.ErrBusy)
				cut.apply(c)
			} else {
				require.ErrorIs(t, err, coordinator.ErrUnavailable)
				require.NotZero(t, c.Traffic(1, 2).Dropped)
			}
			require.Greater(t, applied(), before, "the try was decided")
			require.Empty(t, inspect(t, c.Node(1), "key").Waiters)
			third := ask(t, c.Node(3), "key", coordinator.WithTTL(long))
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
	c := locktest.New(t, 3)
	for range 5 {
		lease := acquire(t, c.Node(2), "key", coordinator.WithTTL(long))
		first := ask(t, c.Node(1), "key", coordinator.WithTTL(long), coordinator.WithWait(2*locktest.ElectionTimeout))
		awaitLine(t, c, c.Node(2), "key", 1)
		second := ask(t, c.Node(1), "key", coordinator.WithTTL(long))
		require.ErrorIs(t, first.failed(), context.DeadlineExceeded)
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
