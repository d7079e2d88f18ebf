package coordinator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// What the others notice when a node is stopped that leads groups.

// lead makes a node the leader of every group, and waits until the node knows.
func lead(t *testing.T, c *locktest.Cluster, node int) {
	t.Helper()
	for group := 1; group <= locktest.Groups; group++ {
		require.NoError(t, c.MoveLeader(patient(t), c.KeyIn(group, "key"), node))
	}
	require.NoError(t, c.Await(patient(t), "the leader to know itself", func() bool {
		for _, g := range c.Node(node).Coordinator().Status().Groups {
			if int(g.Leader) != node {
				return false
			}
		}
		return true
	}))
}

func TestShutdownMovesTheLeadershipsOfAllGroups(t *testing.T) {
	t.Parallel()
	// A leadership that was moved is known to the node before it stops; one
	// that was merely given up is not, and an election would follow. Close
	// waits one election timeout for the move.
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	for name, stop := range map[string]func(*coordinator.Coordinator) error{
		"Shutdown": func(n *coordinator.Coordinator) error { return n.Shutdown(ctx) },
		"Close":    (*coordinator.Coordinator).Close,
	} {
		t.Run(name, func(t *testing.T) {
			lead(t, c, 1)
			var others []*coordinator.Lease
			for group := 1; group <= locktest.Groups; group++ {
				for _, node := range []int{2, 3} {
					others = append(others, acquire(t, c.Node(node), c.KeyIn(group, name)+string(rune('0'+node))))
				}
			}
			node, changes := c.Node(1).Coordinator(), c.Faults().LeaderChanges
			require.NoError(t, stop(node))

			heirs := make(map[coordinator.NodeID]int)
			for _, g := range node.Status().Groups {
				require.NotEqual(t, coordinator.NodeID(1), g.Leader, "group %d was led by node 1 when that stopped", g.Group)
				require.NotZero(t, g.Leader, "group %d had no leader when node 1 stopped", g.Group)
				heirs[g.Leader]++
			}
			require.Len(t, heirs, 2, "they don't all go to one node")
			require.GreaterOrEqual(t, c.Faults().LeaderChanges, changes+locktest.Groups)
			c.Node(1).Close()
			for group := 1; group <= locktest.Groups; group++ {
				awaitOtherLeader(t, c, c.KeyIn(group, "key"), 1)
			}
			advance(c, long/4, 2, 3) // a renewal is due
			for _, lease := range others {
				require.NoError(t, lease.Ensure(ctx, long*85/100), "it is renewed through the next leader")
				requireOpen(t, lease)
				release(t, lease)
			}
			require.Zero(t, c.Faults().ExpiriesProposed)
			c.Node(1).Restart()
			require.NoError(t, c.WaitReady(ctx))
		})
	}
}

func TestCloseDuringAnElectionIsBounded(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(*locktest.Cluster){
		"ThatEndsMeanwhile": func(*locktest.Cluster) {},
		"ThatNeverEnds":     func(c *locktest.Cluster) { c.Node(2).Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3)
			lead(t, c, 3)
			node := c.Node(1).Coordinator()
			lease := acquire(t, c.Node(1), "key")
			waiter := ask(t, c.Node(1), "key")
			awaitLine(t, c, c.Node(1), "key", 1)
			// Without each other nodes 1 and 2 can't elect anybody.
			c.Isolate(1)
			c.Node(3).Kill()
			leaderless := func() bool {
				for _, g := range node.Status().Groups {
					if g.Leader != 0 {
						return false
					}
				}
				return true
			}
			require.NoError(t, c.Await(patient(t), "the election", leaderless))
			hold(c)
			c.Heal()
			require.NoError(t, within(t, node.Close))
			require.ErrorIs(t, lease.Err(), coordinator.ErrClosed)
			require.ErrorIs(t, waiter.failed(), coordinator.ErrClosed)

			c.Node(1).Close()
			c.Node(2).Restart()
			c.Node(3).Restart()
			c.Node(1).Restart()
			require.NoError(t, c.WaitReady(patient(t)))
			release(t, acquire(t, c.Node(1), "key"))
			awaitNothingLeft(t, c)
		})
	}
}

// within runs a call that has to return, and fails the test if it hangs.
func within(t *testing.T, call func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		return err
	case <-patient(t).Done():
		require.FailNow(t, "the call hangs")
		return nil
	}
}
