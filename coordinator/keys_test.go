package coordinator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// keysOf returns what Keys shows, by key.
func keysOf(n *locktest.Node, queue int) map[string]coordinator.KeyState {
	all := map[string]coordinator.KeyState{}
	for k := range n.Coordinator().Keys(queue) {
		all[k.Key] = k
	}
	return all
}

func TestKeysShowsWhatAllNodesHaveWithoutAskingThem(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	held, other, own := c.KeyIn(1, "held"), c.KeyIn(2, "other"), c.KeyIn(2, "own")
	lease := acquire(t, c.Node(1), held, coordinator.WithMetadata("of 1"), coordinator.WithRequestID("id"))
	for i := range 3 {
		ask(t, c.Node(3), held, coordinator.WithMetadata(fmt.Sprint("waiter ", i)))
		awaitLine(t, c, c.Node(2), held, i+1)
	}
	acquire(t, c.Node(3), other)
	acquire(t, c.Node(2), own)
	require.NoError(t, c.Node(2).Coordinator().WaitReady(patient(t)))
	c.Isolate(2)

	keys := keysOf(c.Node(2), 2)
	require.Len(t, keys, 3)
	got := keys[held]
	require.Equal(t, 1, got.Group)
	require.Equal(t, long, got.TTL)
	require.Equal(t, coordinator.NodeID(1), got.Holder.Node)
	require.Equal(t, lease.Token(), got.Holder.Token)
	require.Equal(t, "of 1", got.Holder.Metadata)
	require.Equal(t, "id", got.Holder.RequestID)
	require.Equal(t, 3, got.Waiters)
	require.Len(t, got.Queue, 2, "no more than asked for")
	require.Equal(t, "waiter 0", got.Queue[0].Metadata)
	require.Equal(t, "waiter 1", got.Queue[1].Metadata)
	require.Equal(t, coordinator.NodeID(3), keys[other].Holder.Node)
	require.Empty(t, keys[other].Queue)

	for key, want := range keysOf(c.Node(2), 1) {
		one, taken, err := c.Node(2).Coordinator().Peek(key, 1)
		require.NoError(t, err)
		require.True(t, taken)
		one.Remaining = want.Remaining // it has gone on
		require.Equal(t, want, one)
	}
	for range c.Node(2).Coordinator().Keys(0) {
		break // does not go on in the next group
	}
	_, taken, err := c.Node(2).Coordinator().Peek("free", 1)
	require.NoError(t, err)
	require.False(t, taken)
	_, _, err = c.Node(2).Coordinator().Peek("", 1)
	require.ErrorIs(t, err, coordinator.ErrInvalid)

	c.Node(2).Close()
	require.Len(t, keysOf(c.Node(2), 0), 3)
}

func TestKeysShowsHowLongALeaseGoesOnByItself(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	acquire(t, c.Node(1), "of another")
	acquire(t, c.Node(2), "own")
	require.NoError(t, c.Node(2).Coordinator().WaitReady(patient(t)))
	remaining := func() (own, other time.Duration) {
		keys := keysOf(c.Node(2), 0)
		return keys["own"].Remaining, keys["of another"].Remaining
	}
	own, other := remaining()
	require.LessOrEqual(t, own, long*9/10)
	require.Greater(t, own, long*8/10)
	require.LessOrEqual(t, other, long)
	require.Greater(t, other, long*9/10)

	c.Isolate(2)
	advance(c, long/2, 2)
	laterOwn, laterOther := remaining()
	require.LessOrEqual(t, laterOwn, own-long/2)
	require.LessOrEqual(t, laterOther, other-long/2)
	require.Positive(t, laterOwn)
	require.Positive(t, laterOther)

	advance(c, long, 2)
	laterOwn, laterOther = remaining()
	require.Zero(t, laterOwn)
	require.Zero(t, laterOther)
	for _, n := range c.Node(2).Coordinator().Status().Groups[0].Nodes {
		require.GreaterOrEqual(t, n.Heard, long)
	}
}
