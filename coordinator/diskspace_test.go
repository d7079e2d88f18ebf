package coordinator_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/internal/saidtest"
)

func TestTheLimitsOfDiskSpaceAreTheOnesStated(t *testing.T) {
	require.EqualValues(t, 256<<20, coordinator.DiskSpaceMin)
	require.EqualValues(t, 320<<20, coordinator.DiskSpaceAgain)
}

func TestOpenRefusesWithTooLittleDiskSpace(t *testing.T) {
	free := uint64(coordinator.DiskSpaceMin - 1)
	ctx := inject.With(patient(t), inject.Env{Gauge: func(string) (uint64, error) { return free, nil }})
	refused := func(t *testing.T, dir string) {
		_, err := coordinator.Open(ctx, coordinator.Config{Dir: dir})
		require.ErrorIs(t, err, coordinator.ErrDiskSpace)
		require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
		var short *coordinator.DiskSpaceError
		require.ErrorAs(t, err, &short)
		require.Equal(t, coordinator.DiskSpaceError{Dir: dir, FreeBytes: free, NeededBytes: coordinator.DiskSpaceMin}, *short)
	}
	parent := t.TempDir()
	dir := filepath.Join(parent, "above", "node")

	t.Run("AndMakesNoDirectory", func(t *testing.T) {
		refused(t, dir)
		require.NoDirExists(t, filepath.Dir(dir))
	})
	t.Run("AndChangesNothingInOneThatIsThere", func(t *testing.T) {
		free++ // just enough
		c, err := coordinator.Open(ctx, coordinator.Config{Dir: dir})
		require.NoError(t, err)
		require.NoError(t, c.Close())
		before := snapshotOf(t, dir)
		require.NotEmpty(t, before)
		free--
		refused(t, dir)
		require.Equal(t, before, snapshotOf(t, dir))
	})
	t.Run("AndOpensWhenThereIsEnoughAgain", func(t *testing.T) {
		free++
		c, err := coordinator.Open(ctx, coordinator.Config{Dir: dir})
		require.NoError(t, err)
		require.EqualValues(t, 2, c.Status().Incarnation, "the refused start is not counted")
		require.NoError(t, c.Close())
	})
}

// fileState is what a change of a file shows in.
type fileState struct {
	mode    os.FileMode
	size    int64
	changed time.Time
}

// snapshotOf returns what is in a directory.
func snapshotOf(t *testing.T, dir string) map[string]fileState {
	t.Helper()
	all := make(map[string]fileState)
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			all[path] = fileState{info.Mode(), info.Size(), info.ModTime()}
		}
		return err
	}))
	return all
}

// awaitShort waits until a node has noticed that it is short of disk space, or
// no longer.
func awaitShort(t *testing.T, c *locktest.Cluster, n *locktest.Node, short bool) {
	t.Helper()
	require.NoError(t, c.Await(patient(t), "the node to look at its disk", func() bool {
		return (n.Coordinator().Status().DiskErr != nil) == short
	}))
}

// leads returns how many groups a node leads.
func leads(c *locktest.Cluster, n *locktest.Node) (led int) {
	for group := 1; group <= locktest.Groups; group++ {
		if c.Leader(c.KeyIn(group, "any")) == n.Number() {
			led++
		}
	}
	return led
}

// A node leads all groups, holds a key and waits for another one. Its disk gets
// short of space, and then there is enough again.
func TestANodeShortOfDiskSpace(t *testing.T) {
	t.Parallel()
	var log saidtest.Log
	cluster := newCluster(t, 3, locktest.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	short, other := cluster.Node(1), cluster.Node(2)
	node := short.Coordinator()
	for group := 1; group <= locktest.Groups; group++ {
		require.NoError(t, cluster.MoveLeader(patient(t), cluster.KeyIn(group, "any"), short.Number()))
	}
	held := acquire(t, short, cluster.KeyIn(1, "held"))
	given := acquire(t, short, cluster.KeyIn(2, "given back"))
	theirs := acquire(t, other, cluster.KeyIn(3, "theirs"))
	waiting := ask(t, short, theirs.Key())
	awaitLine(t, cluster, other, theirs.Key(), 1)

	short.SetDiskFree(coordinator.DiskSpaceMin - 1)
	awaitShort(t, cluster, short, true)

	t.Run("HandsOverAllItsLeaderships", func(t *testing.T) {
		require.NoError(t, cluster.Await(patient(t), "the others to lead", func() bool { return leads(cluster, short) == 0 }))
	})
	t.Run("AnswersWhatIsNewAtOnceAndProposesNothing", func(t *testing.T) {
		before := node.Status().Requests
		for name, call := range map[string]func(context.Context) error{
			"Acquire":       func(ctx context.Context) error { _, err := node.Acquire(ctx, "new"); return err },
			"TryAcquire":    func(ctx context.Context) error { _, err := node.TryAcquire(ctx, "new"); return err },
			"AcquireAll":    func(ctx context.Context) error { _, err := node.AcquireAll(ctx, []string{"new", "newer"}); return err },
			"TryAcquireAll": func(ctx context.Context) error { _, err := node.TryAcquireAll(ctx, []string{"new"}); return err },
			"Inspect":       func(ctx context.Context) error { _, err := node.Inspect(ctx, "new"); return err },
			"Resolve":       func(ctx context.Context) error { _, err := node.Resolve(ctx, "new", "id"); return err },
			"WaitReady":     node.WaitReady,
		} {
			// A context without an end: the answer does not wait for anything.
			err := call(context.Background())
			require.ErrorIs(t, err, coordinator.ErrUnavailable, name)
			require.ErrorIs(t, err, coordinator.ErrDiskSpace, name)
			require.Equal(t, coordinator.NotApplied, outcomeOf(t, err), name)
			var space *coordinator.DiskSpaceError
			require.ErrorAs(t, err, &space, name)
			require.EqualValues(t, coordinator.DiskSpaceMin-1, space.FreeBytes, name)
			require.EqualValues(t, coordinator.DiskSpaceAgain, space.NeededBytes, name)
			require.True(t, strings.HasPrefix(space.Dir, short.Dir()), name)
		}
		require.Equal(t, before, node.Status().Requests)
		require.Nil(t, inspect(t, other, "new").Holder)
	})
	t.Run("StaysShortUntilThereIsMoreThanItNeeds", func(t *testing.T) {
		short.SetDiskFree(coordinator.DiskSpaceAgain - 1)
		require.NoError(t, cluster.Await(patient(t), "another look", func() bool {
			return node.Status().DiskFreeBytes == coordinator.DiskSpaceAgain-1
		}))
		require.ErrorIs(t, node.Status().DiskErr, coordinator.ErrDiskSpace)
		require.ErrorIs(t, node.Ready(), coordinator.ErrDiskSpace)
		require.NoError(t, node.Live())
	})
	t.Run("GoesOnRenewingAndReleasing", func(t *testing.T) {
		advance(cluster, long/4, short.Number())
		require.NoError(t, held.Ensure(patient(t), long*17/20))
		release(t, given)
		require.Nil(t, inspect(t, other, given.Key()).Holder)
	})
	t.Run("KeepsItsPlacesInLine", func(t *testing.T) {
		waiting.waits()
		release(t, theirs)
		lease := waiting.granted()
		require.Greater(t, lease.Token(), theirs.Token())
		release(t, lease)
	})
	t.Run("LeavesTheOthersAlone", func(t *testing.T) {
		require.NoError(t, other.Coordinator().WaitReady(patient(t)))
		release(t, acquire(t, other, "new"))
		require.NoError(t, other.Coordinator().Status().DiskErr)
		require.NoError(t, other.Coordinator().Ready())
	})
	t.Run("HandsOverAgainWhenItIsElected", func(t *testing.T) {
		key := cluster.KeyIn(1, "any")
		before := short.Faults().LeaderChanges
		leader, err := cluster.WaitLeader(patient(t), key)
		require.NoError(t, err)
		require.NotEqual(t, short.Number(), leader)
		require.NoError(t, cluster.MoveLeader(patient(t), key, short.Number()))
		require.NoError(t, cluster.Await(patient(t), "another one to lead", func() bool {
			leader := cluster.Leader(key)
			return leader != 0 && leader != short.Number()
		}))
		require.Greater(t, short.Faults().LeaderChanges, before+1)
	})
	t.Run("WorksAgainWithoutARestart", func(t *testing.T) {
		short.SetDiskFree(coordinator.DiskSpaceAgain)
		awaitShort(t, cluster, short, false)
		require.NoError(t, node.WaitReady(patient(t)))
		release(t, acquire(t, short, "new"))
		require.True(t, held.Held())
		release(t, held)
		require.NoError(t, cluster.MoveLeader(patient(t), held.Key(), short.Number()))
	})
	t.Run("LogsEachChangeOnce", func(t *testing.T) {
		require.Equal(t, 1, strings.Count(log.String(), "too little disk space: "), "%v", &log)
		require.Equal(t, 1, strings.Count(log.String(), "there is enough disk space again"), "%v", &log)
	})
	awaitNothingLeft(t, cluster)
}

// All disks get short at the same time, as they do when the nodes are alike.
// Nobody is up to leading then, and the leaderships must not go round and
// round: what is held goes on.
func TestAllNodesShortOfDiskSpace(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, 3)
	var leases []*coordinator.Lease
	for _, n := range cluster.Nodes() {
		leases = append(leases, acquire(t, n, cluster.KeyIn(n.Number(), "held")))
	}
	for _, n := range cluster.Nodes() {
		n.SetDiskFree(0)
	}
	for _, n := range cluster.Nodes() {
		awaitShort(t, cluster, n, true)
	}
	for range 5 {
		advance(cluster, long/4, 1, 2, 3)
		for _, lease := range leases {
			require.NoError(t, lease.Ensure(patient(t), long*17/20))
		}
	}
	for _, n := range cluster.Nodes() {
		n.SetDiskFree(coordinator.DiskSpaceAgain)
		awaitShort(t, cluster, n, false)
	}
	for _, lease := range leases {
		release(t, lease)
	}
	require.NoError(t, cluster.WaitReady(patient(t)))
	awaitNothingLeft(t, cluster)
}

// A look at the disk that fails is no reason to stop: the last one counts.
func TestALookAtTheDiskThatFails(t *testing.T) {
	var log bytes.Buffer
	looks := make(chan error)
	end := make(chan struct{})
	answers := 0
	ctx := inject.With(patient(t), inject.Env{Gauge: func(string) (uint64, error) {
		if answers++; answers <= 2 { // of Open
			return coordinator.DiskSpaceMin, nil
		}
		select {
		case err := <-looks:
			return 0, err
		case <-end:
			return 0, nil
		}
	}})
	c, err := coordinator.Open(ctx, coordinator.Config{Dir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	for range 2 {
		looks <- os.ErrDeadlineExceeded
	}
	looks <- nil // 0 bytes: the failed looks are over
	looks <- nil
	require.ErrorIs(t, c.Status().DiskErr, coordinator.ErrDiskSpace)
	looks <- os.ErrDeadlineExceeded
	looks <- os.ErrDeadlineExceeded // the one before has been judged
	require.ErrorIs(t, c.Status().DiskErr, coordinator.ErrDiskSpace)
	close(end)
	require.NoError(t, c.Close())
	require.Equal(t, 2, strings.Count(log.String(), "can't find out how much disk space is free"), "%v", &log)
}
