package coordinator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

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
	c := newSteadyCluster(t, 3)
	require.NoError(t, c.MoveLeader(patient(t), "key", 2))
	lease := acquire(t, c.Node(3), c.KeyIn(c.Group("key"), "held by another"))
	for range 50 {
		pairs(t, c, "key", 1)
		if leader, err := c.WaitLeader(patient(t), "key"); err == nil && leader == 1 {
			break
		}
	}
	leader, err := c.WaitLeader(patient(t), "key")
	require.NoError(t, err)
	require.Equal(t, 1, leader)
	requireOpen(t, lease)

	// It stays there, and goes on when the work does, after a rest.
	changes := c.Faults().LeaderChanges
	for range 8 {
		pairs(t, c, "key", 1)
		pairs(t, c, "key", 3)
	}
	require.Equal(t, changes, c.Faults().LeaderChanges)
	advance(c, 60*steadyElection, 1, 2, 3)
	require.NoError(t, c.Await(patient(t), "node 3 to lead", func() bool {
		pairs(t, c, "key", 3)
		leader, err := c.WaitLeader(patient(t), "key")
		return err == nil && leader == 3
	}))
	requireOpen(t, lease)
}

func TestNobodyLeadsForALoadThatIsShared(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	require.NoError(t, c.MoveLeader(patient(t), "key", 2))
	changes := c.Faults().LeaderChanges
	for range 12 {
		pairs(t, c, "key", 1, 3)
	}
	require.Equal(t, changes, c.Faults().LeaderChanges)
	_, err := c.Node(1).Coordinator().Inspect(patient(t), "key")
	require.NotErrorIs(t, err, coordinator.ErrUnavailable)
}
