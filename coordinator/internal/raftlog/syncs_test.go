package raftlog

import (
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/lni/dragonboat/v4/config"
	enginevfs "github.com/lni/vfs"
	"github.com/stretchr/testify/require"
)

// syncCounter counts the syncs of the engine's file system.
type syncCounter struct{ n atomic.Int64 }

func (c *syncCounter) MaybeError(op enginevfs.Op) error {
	if op == enginevfs.OpSync {
		c.n.Add(1)
	}
	return nil
}

// TestALoneProposalIsSyncedOnceOnEachNode is what this store is for: that of the
// engine syncs again when only the commit index has moved.
func TestALoneProposalIsSyncedOnceOnEachNode(t *testing.T) {
	const nodes, proposals = 3, 150
	perProposal := func(hosts []*host, syncs *atomic.Int64) float64 {
		for _, h := range hosts {
			h.snapshots = 0
			h.start()
		}
		hosts[0].propose(1, 1)
		before := syncs.Load()
		for number := uint64(2); number < proposals+2; number++ {
			hosts[0].propose(1, number)
		}
		return float64(syncs.Load()-before) / proposals / nodes
	}
	fs := newLogFS(vfs.Default)
	mine := newHosts(t, nodes, 1, func() config.LogDBFactory { return NewFactory(Options{FS: fs}) })
	here := perProposal(mine, &fs.syncs)
	for _, h := range mine {
		h.stop()
	}
	counter := &syncCounter{}
	theirs := newHosts(t, nodes, 1, func() config.LogDBFactory { return nil })
	for _, h := range theirs {
		h.fs = enginevfs.Wrap(enginevfs.Default, counter)
	}
	there := perProposal(theirs, &counter.n)

	t.Logf("syncs for each proposal and node: %.2f here, %.2f in the engine's store", here, there)
	// A follower may lag behind the majority at the end, and take some at once.
	require.Greater(t, here, 0.6, "what was acknowledged was not synced")
	require.Less(t, here, 1.3)
	require.Greater(t, there, here+0.3, "it is not worth it any longer")
}
