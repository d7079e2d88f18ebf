package locktest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/locktest"
)

func TestLeaders(t *testing.T) {
	c := locktest.New(t, 3, steady())
	ctx := patient(t)
	key := c.KeyIn(2, "key")
	require.Equal(t, 2, c.Group(key))

	t.Run("MoveLeaderMakesEachNodeTheLeader", func(t *testing.T) {
		for _, to := range []int{1, 2, 3, 3, 1} {
			require.NoError(t, c.MoveLeader(ctx, key, to))
			require.Equal(t, to, c.Leader(key))
		}
	})
	t.Run("MoveLeaderGivesUpWithItsContext", func(t *testing.T) {
		require.NoError(t, c.MoveLeader(ctx, key, 1))
		c.Node(3).Kill()
		short, cancel := context.WithTimeout(ctx, locktest.ElectionTimeout)
		defer cancel()
		require.ErrorIs(t, c.MoveLeader(short, key, 3), context.DeadlineExceeded)
		c.Node(3).Restart()
		require.NoError(t, c.WaitReady(ctx))
	})
	t.Run("AnIsolatedLeaderIsNone", func(t *testing.T) {
		require.NoError(t, c.MoveLeader(ctx, key, 1))
		before := c.Faults().LeaderChanges
		c.Isolate(1)
		require.NoError(t, c.Await(ctx, "another leader", func() bool {
			l := c.Leader(key)
			return l != 0 && l != 1
		}))
		require.Greater(t, c.Faults().LeaderChanges, before)
		c.Heal()
		leader, err := c.WaitLeader(ctx, key)
		require.NoError(t, err)
		require.NotEqual(t, 1, leader)
	})
	t.Run("WithoutAMajorityThereIsNone", func(t *testing.T) {
		c.Node(1).Kill()
		c.Node(2).Kill()
		require.Zero(t, c.Leader(key))
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := c.WaitLeader(ended, key)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, key)
	})
}

func TestGroupsOfKeys(t *testing.T) {
	r := run(t, func(t testing.TB) { locktest.New(t, 1).KeyIn(locktest.Groups+1, "key") })
	require.Contains(t, r.text(), "no key belongs to group 4")
	r = run(t, func(t testing.TB) {
		c := locktest.New(t, 1)
		c.Node(1).Kill()
		c.Group("key")
	})
	require.Contains(t, r.text(), "no node runs")
}

func TestAwait(t *testing.T) {
	c := locktest.New(t, 1)
	t.Run("AsksOnceAtLeast", func(t *testing.T) {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		require.NoError(t, c.Await(ended, "nothing", func() bool { return true }))
	})
	t.Run("NamesWhatItWaitedFor", func(t *testing.T) {
		short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		err := c.Await(short, "a miracle", func() bool { return false })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "a miracle")
		require.ErrorContains(t, err, "node 1 runs")
	})
	t.Run("HearsOfALogEntry", func(t *testing.T) {
		ctx := patient(t)
		before := c.Dumps(c.Group("key"))[0].Index
		go c.Node(1).Coordinator().Acquire(ctx, "key")
		require.NoError(t, c.Await(ctx, "the acquire", func() bool { return c.Dumps(c.Group("key"))[0].Index > before }))
	})
}
