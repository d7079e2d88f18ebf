package coordinator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// Cuts of a node's links, and that they met something.

// counted is what was counted before a cut.
type counted struct{ expiries, dropped uint64 }

// cutWhileHeld lets node 1 hold a key, with the shortest TTL, that node 2 asks
// for, and cuts node 1 off when so many batches of it were seen applied. A busy
// machine may lose such a lease before that; then it takes another. That it is
// held when the cut is made shows that node 1 can't have given it back.
func cutWhileHeld(t *testing.T, c *locktest.Cluster, batches int, cut func()) (*coordinator.Lease, *inLine, counted) {
	t.Helper()
	const tries = 20
	for try := range tries {
		key := fmt.Sprintf("cut %d", c.Node(1).Coordinator().Status().Acquired)
		require.NoError(t, c.MoveLeader(patient(t), key, 2+try%2))
		lease := acquire(t, c.Node(1), key, coordinator.WithTTL(locktest.MinTTL))
		next := ask(t, c.Node(2), key)
		for range batches {
			release(t, acquire(t, c.Node(1), key+", beside it"))
		}
		before := counted{c.Faults().ExpiriesProposed, droppedAt(c, 1)}
		cut()
		if lease.Held() {
			return lease, next, before
		}
		c.Heal()
		release(t, next.granted())
	}
	require.FailNow(t, "no lease lasts until the cut", "%d tries", tries)
	return nil, nil, counted{}
}

// droppedAt returns how many frames to or from a node have vanished.
func droppedAt(c *locktest.Cluster, node int) uint64 {
	dropped := uint64(0)
	for _, n := range c.Nodes() {
		if n.Number() != node {
			dropped += c.Traffic(node, n.Number()).Dropped + c.Traffic(n.Number(), node).Dropped
		}
	}
	return dropped
}

// awaitDropped waits until a fault of the network has met something that one node
// sent to another.
func awaitDropped(t testing.TB, c *locktest.Cluster, from, to int) {
	t.Helper()
	require.NoError(t, c.Await(patient(t), "a frame to get lost", func() bool { return c.Traffic(from, to).Dropped > 0 }))
}

// awaitCut waits until a fault of the links of a node has met something.
func awaitCut(t testing.TB, c *locktest.Cluster, node int) {
	t.Helper()
	require.NoError(t, c.Await(patient(t), "a frame to get lost", func() bool { return droppedAt(c, node) > 0 }))
}
