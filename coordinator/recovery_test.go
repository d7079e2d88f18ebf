package coordinator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// few is after how many log entries a group takes a snapshot here.
const few = 64

// cutLogs makes each group write so many entries that its log is cut off.
func cutLogs(t *testing.T, c *locktest.Cluster, n *locktest.Node) {
	parallel(locktest.Groups, func(i int) {
		key := c.KeyIn(i+1, "churn")
		for range 2 * few { // two entries each
			lease, err := n.Coordinator().Acquire(patient(t), key)
			if err == nil {
				err = lease.Release(patient(t))
			}
			if err != nil {
				t.Errorf("churn in group %d: %v", i+1, err)
				return
			}
		}
	})
	require.NoError(t, c.WaitReady(patient(t)))
}

// S132: holders, queues, TTLs, limits, the numbers of batches and the counters
// of tokens are in the snapshot. Nothing differs for a node that has its state
// from one.
func TestS132EverythingIsInTheSnapshot(t *testing.T) {
	t.Parallel()
	t.Run("ANodeThatInstallsItLeadsOnAsIfItHadBeenThere", func(t *testing.T) {
		cluster := newSteadyCluster(t, 3, locktest.WithSnapshotEntries(few))
		one, two, late := cluster.Node(1), cluster.Node(2), cluster.Node(3)
		late.Kill()
		key := func(name string) string { return cluster.KeyIn(2, name) }
		lasts, id := coordinator.WithTTL(longer), coordinator.WithRequestID("request of old")
		mine := acquire(t, one, key("mine"), id)
		acquire(t, one, key("limited"), lasts, coordinator.WithMaxHold(longer))
		dying := acquire(t, two, key("dying"))
		lasting := acquire(t, two, key("lasting"), lasts)
		next := ask(t, one, key("mine"))
		awaitLine(t, cluster, one, key("mine"), 1)
		last := ask(t, one, key("mine"), lasts)
		awaitLine(t, cluster, one, key("mine"), 2)
		heir := ask(t, one, key("dying"), lasts)
		awaitLine(t, cluster, one, key("dying"), 1)
		cutLogs(t, cluster, one)
		require.GreaterOrEqual(t, one.Faults().SnapshotsCreated, uint64(locktest.Groups))

		late.Restart()
		require.NoError(t, cluster.WaitReady(patient(t)))
		require.GreaterOrEqual(t, late.Faults().SnapshotsInstalled, uint64(locktest.Groups))
		require.NoError(t, cluster.WaitEqualDumps(patient(t)))
		require.NoError(t, cluster.MoveLeader(patient(t), key("mine"), late.Number()))

		// Renewing, an old request id, and the queue.
		advance(cluster, long/4, 1, 2, 3)
		require.NoError(t, mine.Ensure(patient(t), long*17/20))
		resolution := resolve(t, one, key("mine"), "request of old")
		require.Equal(t, coordinator.Resolution{State: coordinator.Owned, Token: mine.Token()}, resolution)
		release(t, mine)
		followed := next.granted()
		require.Greater(t, followed.Token(), lasting.Token(), "the counter is that of the group")
		last.waits()
		release(t, followed)
		release(t, last.granted())

		// The death of a node, by its TTLs.
		before := late.Faults().ExpiriesProposed
		two.Kill()
		letPass(t, cluster, 2*long, 1, 3)
		inherited := heir.granted()
		require.Greater(t, inherited.Token(), dying.Token())
		require.Greater(t, late.Faults().ExpiriesProposed, before)
		holder := inspect(t, late, key("lasting")).Holder
		require.NotNil(t, holder, "the longer TTL is not over")
		require.Equal(t, lasting.Token(), holder.Token)

		two.Restart()
		require.NoError(t, cluster.WaitReady(patient(t)))
		release(t, acquire(t, late, key("lasting"))) // swept by the new start of its node
		require.NoError(t, cluster.WaitEqualDumps(patient(t)))
	})

	t.Run("AllNodesComeBackFromIt", func(t *testing.T) {
		s := newScene(t, locktest.WithSnapshotEntries(few))
		cutLogs(t, s.cluster, s.cluster.Node(1))
		for _, n := range s.cluster.Nodes() {
			require.GreaterOrEqual(t, n.Faults().SnapshotsCreated, uint64(locktest.Groups), "node %d", n.Number())
		}
		s.allComeBack()
	})
}

// S143: all nodes are down for longer than any TTL. When they come back no
// deadline is found to have passed meanwhile: a node that stays away is given
// one TTL from then on. What one that is back had is swept: its program has
// ended, and cleanly loses what it held.
func TestS143WholeClusterDownLongerThanTTL(t *testing.T) {
	t.Parallel()
	cluster := newSteadyCluster(t, 3)
	returns, stays, third := cluster.Node(1), cluster.Node(2), cluster.Node(3)
	a := acquire(t, returns, cluster.KeyIn(1, "a"))
	b := acquire(t, stays, cluster.KeyIn(2, "b"))
	parallel(3, func(i int) { cluster.Node(i + 1).Kill() })
	require.ErrorIs(t, a.Err(), coordinator.ErrLeaseLost)
	advance(cluster, 3*long, 1, 2, 3)
	returns.Restart()
	third.Restart()
	require.NoError(t, cluster.MoveLeader(patient(t), b.Key(), third.Number()))
	heir := ask(t, third, b.Key(), coordinator.WithTTL(longer))

	// The client of the node that is back tries again, and then another one.
	again := acquire(t, returns, a.Key())
	require.Greater(t, again.Token(), a.Token())
	other := ask(t, third, a.Key())
	awaitLine(t, cluster, third, a.Key(), 1)
	other.waits()
	release(t, again)
	last := other.granted()
	require.Greater(t, last.Token(), again.Token())
	release(t, last)

	// From the start to the end of what the dead had.
	passed := time.Duration(0)
	for _, d := range []time.Duration{long / 5, long / 5, long / 5, long / 5, long * 3 / 20} {
		passAt(t, cluster, third.Number(), returns.Number(), d, b.Key())
		passed += d
		require.Equal(t, b.Token(), inspect(t, returns, b.Key()).Holder.Token, "after %v", passed)
		heir.waits()
	}
	advance(cluster, 2*long-passed, third.Number())
	underLeader(t, cluster, third.Number(), b.Key(), heir.done)
	lease := heir.granted()
	require.Greater(t, lease.Token(), b.Token())
	require.NotZero(t, cluster.Faults().ExpiriesProposed, "expiries")
	release(t, lease)
}
