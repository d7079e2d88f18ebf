package locktest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

func TestKill(t *testing.T) {
	c := locktest.New(t, 3)
	ctx := patient(t)
	require.NoError(t, c.MoveLeader(ctx, "key", 2))
	killed := c.Node(1).Coordinator()
	lease, err := killed.Acquire(ctx, "key", coordinator.WithTTL(long))
	require.NoError(t, err)

	c.Node(1).Kill()
	require.False(t, c.Node(1).Running())
	require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
	require.ErrorIs(t, lease.Err(), coordinator.ErrClosed)
	require.Same(t, killed, c.Node(1).Coordinator(), "the last one stays to be asked")
	_, err = killed.Acquire(ctx, "other")
	require.ErrorIs(t, err, coordinator.ErrClosed)
	c.Node(1).Kill()

	t.Run("NobodyIsTold", func(t *testing.T) {
		requireTaken(t, c.Node(2), "key")
	})
	t.Run("TheKeyGoesOnWhenTheOthersHaveWaitedLongEnough", func(t *testing.T) {
		c.Node(2).Clock().Advance(2 * long)
		c.Node(3).Clock().Advance(2 * long)
		next, err := c.Node(2).Coordinator().Acquire(ctx, "key")
		require.NoError(t, err)
		require.Greater(t, next.Token(), lease.Token())
		require.NotZero(t, c.Faults().ExpiriesProposed)
	})
}

func TestClose(t *testing.T) {
	c := locktest.New(t, 3, steady())
	ctx := patient(t)
	_, err := c.Node(1).Coordinator().Acquire(ctx, "key")
	require.NoError(t, err)
	c.Node(1).Close()
	_, err = c.Node(2).Coordinator().Acquire(ctx, "key")
	require.NoError(t, err, "the others are told, and need not wait for an expiry")
	require.Zero(t, c.Faults().ExpiriesProposed)
	c.Node(1).Close()
}

func TestRestart(t *testing.T) {
	c := locktest.New(t, 3)
	ctx := patient(t)
	node := c.Node(2)

	t.Run("OpensAStoppedNodeAsItsNextIncarnation", func(t *testing.T) {
		node.Kill()
		before := node.Coordinator().Status().Incarnation
		node.Restart()
		require.Equal(t, before+1, node.Coordinator().Status().Incarnation)
		require.NoError(t, node.Coordinator().WaitReady(ctx))
	})
	t.Run("ClosesANodeThatRuns", func(t *testing.T) {
		running := node.Coordinator()
		node.Restart()
		_, err := running.Acquire(ctx, "key")
		require.ErrorIs(t, err, coordinator.ErrClosed)
	})
	t.Run("ChangesStayForLaterRestarts", func(t *testing.T) {
		node.Restart(func(cfg *coordinator.Config) { cfg.Limits.Keys = 1 })
		node.Restart()
		_, err := node.Coordinator().AcquireAll(ctx, []string{"a", "b"})
		require.ErrorIs(t, err, coordinator.ErrInvalid)
	})
	t.Run("CountsOfEarlierStartsStay", func(t *testing.T) {
		require.NoError(t, node.Coordinator().WaitReady(ctx))
		before := node.Faults()
		require.NotZero(t, before.LeaderChanges)
		node.Kill()
		require.GreaterOrEqual(t, node.Faults().LeaderChanges, before.LeaderChanges)
		node.Restart()
		require.GreaterOrEqual(t, node.Faults().LeaderChanges, before.LeaderChanges)
	})
	t.Run("FailsTheTestWhenTheNodeCanNotBeOpened", func(t *testing.T) {
		r := run(t, func(t testing.TB) {
			locktest.New(t, 1).Node(1).Restart(func(cfg *coordinator.Config) { cfg.Groups = 7 })
		})
		require.True(t, r.Failed())
		require.Contains(t, r.text(), "open node 1")
	})
}
