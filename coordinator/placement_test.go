package coordinator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/locktest"
)

// leaderOf returns who leads the group of a key.
func leaderOf(t *testing.T, c *locktest.Cluster, key string) int {
	t.Helper()
	leader, err := c.WaitLeader(patient(t), key)
	require.NoError(t, err)
	return leader
}

// pairs lets nodes take and release a key in turn for one window of the clocks.
func pairs(t *testing.T, c *locktest.Cluster, key string, nodes ...int) {
	t.Helper()
	for range 24 {
		for _, node := range nodes {
			release(t, acquire(t, c.Node(node), key))
		}
	}
	advance(c, steadyElection+time.Millisecond, 1, 2, 3)
}

func TestTheNodeThatAGroupServesMostLeadsIt(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3, locktest.WithPlacement())
	require.NoError(t, c.MoveLeader(patient(t), "key", 2))
	lease := acquire(t, c.Node(3), c.KeyIn(c.Group("key"), "held by another"))
	for n := 0; leaderOf(t, c, "key") != 1; n++ {
		require.Less(t, n, 50)
		pairs(t, c, "key", 1)
	}
	requireOpen(t, lease)

	// It stays there, and goes on when the work does, after a rest.
	for range 8 {
		pairs(t, c, "key", 1)
		pairs(t, c, "key", 3)
		require.Equal(t, 1, leaderOf(t, c, "key"))
	}
	advance(c, 60*steadyElection, 1, 2, 3)
	for n := 0; leaderOf(t, c, "key") != 3; n++ {
		require.Less(t, n, 50)
		pairs(t, c, "key", 3)
	}
	requireOpen(t, lease)
}

func TestNobodyLeadsForALoadThatIsShared(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3, locktest.WithPlacement())
	require.NoError(t, c.MoveLeader(patient(t), "key", 2))
	for range 12 {
		pairs(t, c, "key", 1, 3)
		require.Equal(t, 2, leaderOf(t, c, "key"))
	}
}

func TestLeadersOfTheTestKitStay(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	require.NoError(t, c.MoveLeader(patient(t), "key", 2))
	for range 12 {
		pairs(t, c, "key", 1)
		require.Equal(t, 2, leaderOf(t, c, "key"))
	}
}
