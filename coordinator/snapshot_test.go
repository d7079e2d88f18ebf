package coordinator_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// S141: groups take many snapshots, in several terms, with restarts in between,
// and a machine whose wall clock went back. At the next start each goes on from
// the newest one by position in the log, whatever its term and its date.
func TestS141TheNewestSnapshotIsNotTakenForTheOldest(t *testing.T) {
	t.Parallel()
	s := newScene(t, locktest.WithSnapshotEntries(few))
	const terms = 3
	created := func(n *locktest.Node) uint64 { return n.Faults().SnapshotsCreated }
	for term := range terms {
		for group := 1; group <= locktest.Groups; group++ {
			leader := (term+group)%3 + 1
			require.NoError(t, s.cluster.MoveLeader(patient(t), s.cluster.KeyIn(group, "any"), leader))
		}
		before := created(s.cluster.Node(1))
		cutLogs(t, s.cluster, s.cluster.Node(term%3+1))
		require.GreaterOrEqual(t, created(s.cluster.Node(1)), before+locktest.Groups, "snapshots in this term")
	}
	s.backdate()
	s.allComeBack()
}

// backdate gives the files of all nodes dates in the reverse order, as they have
// when the wall clock was set back again and again.
func (s *scene) backdate() {
	s.t.Helper()
	now := time.Now()
	for _, n := range s.cluster.Nodes() {
		require.NoError(s.t, filepath.WalkDir(n.Dir(), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.Type()&fs.ModeSymlink != 0 {
				return err
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the node still works
			}
			if err != nil {
				return err
			}
			turned := now.Add(now.Sub(info.ModTime())) // the older, the newer
			if err := os.Chtimes(path, turned, turned); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		}))
	}
}

// S142: groups with many keys that are held take snapshots all the time, and
// send them to a node that was away. Neither may cost a leader its office or a
// holder its lease.
func TestS142ABigSnapshotDoesNotCostTheLeadership(t *testing.T) {
	t.Parallel()
	const (
		atOnce  = 64 // keys of one set
		sets    = 800
		workers = 8
	)
	cluster := newSteadyCluster(t, 3, locktest.WithSnapshotEntries(few)) // no busy machine is taken for a snapshot
	one, two, late := cluster.Node(1), cluster.Node(2), cluster.Node(3)
	for group := 1; group <= locktest.Groups; group++ {
		require.NoError(t, cluster.MoveLeader(patient(t), cluster.KeyIn(group, "any"), 1+group%2))
	}
	// Each election makes a new term, also one that the same node wins.
	type office struct {
		leader coordinator.NodeID
		term   uint64
	}
	offices := func(n *locktest.Node) (all []office) {
		for _, g := range n.Coordinator().Status().Groups {
			all = append(all, office{g.Leader, g.Term})
		}
		return all
	}
	require.NoError(t, cluster.Await(patient(t), "all nodes to know the leaders", func() bool {
		return slices.Equal(offices(one), offices(two)) && slices.Equal(offices(two), offices(late))
	}))
	before := offices(one)

	held := make([]*coordinator.LeaseSet, sets)
	parallel(workers, func(worker int) {
		for i := worker; i < sets; i += workers {
			keys := make([]string, atOnce)
			for k := range keys {
				keys[k] = fmt.Sprintf("key %d of set %d", k, i)
			}
			set, err := cluster.Node(1+i%2).Coordinator().AcquireAll(patient(t), keys)
			if err != nil {
				t.Errorf("set %d: %v", i, err)
				return
			}
			held[i] = set
		}
	})
	require.False(t, t.Failed())
	for _, n := range []*locktest.Node{one, two} {
		require.Greater(t, n.Faults().SnapshotsCreated, uint64(3*locktest.Groups), "snapshots on node %d", n.Number())
	}
	require.Equal(t, before, offices(one), "changes of leader while snapshots are taken")

	late.Kill()
	cutLogs(t, cluster, one)
	installed := late.Faults().SnapshotsInstalled
	late.Restart()
	advance(cluster, long/4, 1, 2, 3) // all that is held has to be renewed now
	require.NoError(t, cluster.WaitReady(patient(t)))
	require.GreaterOrEqual(t, late.Faults().SnapshotsInstalled, installed+locktest.Groups, "snapshots sent")
	require.Equal(t, before, offices(one), "changes of leader while snapshots are sent")

	keys := 0
	for _, g := range late.Coordinator().Status().Groups {
		keys += g.Keys
	}
	require.Equal(t, sets*atOnce, keys, "keys that the late node knows to be held")
	for i, set := range held {
		require.NoError(t, set.Ensure(patient(t), long*17/20), "set %d", i)
		requireOpen(t, set)
	}
}
