package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

// S123: ever more different keys are acquired and released. The state of the
// replicas, and so a snapshot and what a start has to load, does not grow with
// their number. TestMillionKeysLeaveNothing has the heap and the store.
func TestS123AMillionDifferentKeys(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, locktest.WithSnapshotEntries(20))
	const workers, each = 150, 8
	keys := 0
	pairs := func() {
		parallel(workers, func(w int) {
			node := c.Node(w%2 + 1).Coordinator()
			for i := range each {
				lease, err := node.Acquire(patient(t), fmt.Sprintf("customer/%08d/billing", keys+w*each+i))
				if err == nil {
					err = lease.Release(context.Background())
				}
				if err != nil {
					t.Errorf("acquire and release: %v", err)
					return
				}
			}
		})
		keys += workers * each
	}
	last := make(map[int]token.Token)
	rises := func(node int) {
		t.Helper()
		for group := 1; group <= locktest.Groups; group++ {
			lease := acquire(t, c.Node(node), c.KeyIn(group, "lasting"))
			require.Greater(t, lease.Token(), last[group])
			last[group] = lease.Token()
			release(t, lease)
		}
		awaitNothingLeft(t, c)
	}
	pairs()
	rises(3)
	base := stateLines(c)

	// Node 3 misses more of them, and is then given what the others have.
	c.Node(3).Kill()
	installed := c.Node(3).Faults().SnapshotsInstalled
	for range 3 {
		pairs()
	}
	cutLogs(t, c, c.Node(1))
	c.Node(3).Restart()
	require.NoError(t, c.WaitReady(patient(t)))
	rises(3)
	require.GreaterOrEqual(t, c.Node(3).Faults().SnapshotsInstalled, installed+locktest.Groups)
	require.Equal(t, base, stateLines(c), "lines of all states after %d keys", keys)
	require.Greater(t, last[1], token.Token(keys/locktest.Groups/2), "the counters know of all of them")

	// And after a start from the files.
	parallel(3, func(i int) { c.Node(i + 1).Kill() })
	for _, n := range c.Nodes() {
		n.Restart()
	}
	require.NoError(t, c.WaitReady(patient(t)))
	rises(1)
	require.Equal(t, base, stateLines(c))
}

// stateLines returns how many lines the dumps of all replicas have.
func stateLines(c *locktest.Cluster) int {
	lines := 0
	for group := 1; group <= locktest.Groups; group++ {
		for _, d := range c.Dumps(group) {
			lines += strings.Count(d.Text, "\n")
		}
	}
	return lines
}
