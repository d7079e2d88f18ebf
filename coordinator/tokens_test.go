package coordinator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

func TestS22TokensOutliveTheRecordOfTheirKey(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, locktest.WithSnapshotEntries(5))
	ctx := patient(t)
	last := token.Token(0)
	take := func(n *locktest.Node) {
		t.Helper()
		lease := acquire(t, n, "key")
		require.Greater(t, lease.Token(), last)
		last = lease.Token()
		release(t, lease)
	}
	for range 3 {
		take(c.Node(1))
	}
	awaitNothingLeft(t, c) // no record of the key is left
	require.NoError(t, c.Await(ctx, "a snapshot", func() bool { return c.Faults().SnapshotsCreated > 0 }))
	for _, n := range c.Nodes() {
		n.Kill()
	}
	for _, n := range c.Nodes() {
		n.Restart()
	}
	require.NoError(t, c.WaitReady(ctx))
	for _, n := range c.Nodes() {
		take(n)
	}
}
