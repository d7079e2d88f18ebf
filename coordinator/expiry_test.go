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
	c := locktest.New(t, 3)
	ctx := patient(t)
	const ttl = locktest.TTL
	dead := acquire(t, c.Node(1), "key", coordinator.WithTTL(ttl))
	next := ask(t, c.Node(2), "key", coordinator.WithTTL(long))
	awaitLine(t, c, c.Node(2), "key", 1)
	require.NoError(t, c.MoveLeader(ctx, "key", 2))
	c.Node(2).Clock().Freeze()
	c.Node(3).Clock().Freeze()
	c.Node(1).Kill()
	changes := c.Faults().LeaderChanges
	// Elections more often than the TTL, until twice the TTL has passed.
	for round, leader := range []int{3, 2, 3} {
		require.NoError(t, c.MoveLeader(ctx, "key", leader))
		if round == 0 {
			require.Equal(t, dead.Token(), inspect(t, c.Node(2), "key").Holder.Token)
		}
		advance(c, ttl*7/10, 2, 3)
	}
	require.Greater(t, next.granted().Token(), dead.Token())
	require.Greater(t, c.Faults().LeaderChanges, changes+2)
	require.NotZero(t, c.Faults().ExpiriesProposed)
}

// The case asks for 50 sessions: here each of three nodes has one in each of
// three groups, with several leases.
func TestS40TimeWithoutALeaderDoesNotCountAgainstTheLiving(t *testing.T) {
	t.Parallel()
	c := locktest.New(t, 3)
	ctx := patient(t)
	const ttl = 25 * locktest.ElectionTimeout
	var leases []*coordinator.Lease
	for _, n := range c.Nodes() {
		for group := 1; group <= 3; group++ {
			leases = append(leases, acquire(t, n, c.KeyIn(group, "key-"+string(rune('a'+n.Number()))), coordinator.WithTTL(ttl)))
		}
	}
	for _, lease := range leases {
		require.NoError(t, lease.Ensure(ctx, ttl*85/100))
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
	advance(c, ttl/4, 1, 2, 3) // as if that took that much longer
	c.Heal()
	require.NoError(t, c.WaitReady(ctx))
	for _, lease := range leases {
		require.NoError(t, lease.Ensure(ctx, ttl*85/100))
		requireOpen(t, lease)
	}
	require.Zero(t, c.Faults().ExpiriesProposed)
	for _, n := range c.Nodes() {
		require.Zero(t, n.Coordinator().Status().LostWindow)
	}
}

// The case asks for 50 runs; these are 6, by two deaths of a node that holds a
// key in each of three groups.
func TestS42ExpiryKeepsItsBounds(t *testing.T) {
	t.Parallel()
	c := locktest.New(t, 3)
	ctx := patient(t)
	const ttl = locktest.MinTTL
	for range 2 {
		var earliest []time.Time
		var next []*inLine
		for group := 1; group <= 3; group++ {
			key := c.KeyIn(group, "key")
			require.NoError(t, c.MoveLeader(ctx, key, 2))
			lease := acquire(t, c.Node(1), key, coordinator.WithTTL(ttl))
			next = append(next, ask(t, c.Node(2), key, coordinator.WithTTL(long)))
			awaitLine(t, c, c.Node(2), key, 1)
			// The window ends 0.9*T after the node was last heard from. A
			// renewal that follows makes it later.
			earliest = append(earliest, time.Now().Add(lease.Remaining()+ttl/10))
		}
		dead := time.Now()
		c.Node(1).Kill()
		granted := make([]time.Time, len(next))
		parallel(len(next), func(i int) {
			<-next[i].done
			granted[i] = time.Now()
		})
		for i, l := range next {
			require.False(t, granted[i].Before(earliest[i]), "%v too early", earliest[i].Sub(granted[i]))
			require.Less(t, granted[i].Sub(dead), 2*ttl+5*time.Second, "too late")
			release(t, l.granted())
		}
		c.Node(1).Restart()
		require.NoError(t, c.WaitReady(ctx))
	}
	require.NotZero(t, c.Faults().ExpiriesProposed)
}

func TestS72ATryNoticesThatTheHolderIsGone(t *testing.T) {
	t.Parallel()
	c := locktest.New(t, 3)
	ctx := patient(t)
	require.NoError(t, c.MoveLeader(ctx, "key", 2))
	dead := acquire(t, c.Node(1), "key")
	c.Node(1).Kill()
	_, err := c.Node(2).Coordinator().TryAcquire(ctx, "key")
	require.ErrorIs(t, err, coordinator.ErrBusy)
	advance(c, 2*locktest.TTL, 2, 3)
	require.NoError(t, c.Await(ctx, "the expiry", func() bool { return inspect(t, c.Node(2), "key").Holder == nil }))
	require.NotZero(t, c.Faults().ExpiriesProposed)
	lease, err := c.Node(2).Coordinator().TryAcquire(ctx, "key")
	require.NoError(t, err)
	require.Greater(t, lease.Token(), dead.Token())
}
