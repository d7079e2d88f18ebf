package raftlog

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"
)

// logFS counts and fails what is done to write-ahead logs.
type logFS struct {
	vfs.FS
	syncs, writes atomic.Int64
	failing       atomic.Bool
}

func newLogFS(base vfs.FS) *logFS {
	l := &logFS{}
	l.FS = errorfs.Wrap(base, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !strings.HasSuffix(op.Path, ".log") {
			return nil
		}
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
			l.syncs.Add(1)
			if l.failing.Load() {
				return syscall.EIO
			}
		case errorfs.OpFileWrite:
			l.writes.Add(1)
		}
		return nil
	}))
	return l
}

func TestWhatIsSynced(t *testing.T) {
	fs := newLogFS(vfs.NewMem())
	s := openAt(t, fs)
	other := raftpb.Update{ShardID: 2, ReplicaID: 1, State: raftpb.State{Term: 1}, EntriesToSave: entries(1, 1, 3)}
	state := raftpb.State{Term: 1, Vote: 1}
	for _, c := range []struct {
		name    string
		updates []raftpb.Update
		syncs   int64
	}{
		{"TheFirstTerm", []raftpb.Update{update(state)}, 1},
		{"Entries", []raftpb.Update{update(raftpb.State{}, entries(1, 1, 9)...)}, 1},
		{"NotACommitIndex", []raftpb.Update{update(raftpb.State{Term: 1, Vote: 1, Commit: 3})}, 0},
		{"NotWhatIsThereAlready", []raftpb.Update{update(raftpb.State{Term: 1, Vote: 1, Commit: 3})}, 0},
		{"NotAnEmptyUpdate", []raftpb.Update{update(raftpb.State{})}, 0},
		{"NotNoUpdates", nil, 0},
		{"ATerm", []raftpb.Update{update(raftpb.State{Term: 2, Vote: 1, Commit: 3})}, 1},
		{"AVote", []raftpb.Update{update(raftpb.State{Term: 2, Vote: 2, Commit: 3})}, 1},
		{"SeveralUpdatesOnce", []raftpb.Update{update(raftpb.State{}, entries(2, 10, 12)...), other}, 1},
		{"ASnapshot", []raftpb.Update{{ShardID: 1, ReplicaID: 1, Snapshot: snapshotAt(40, 2)}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := fs.syncs.Load()
			save(t, s, c.updates...)
			require.Equal(t, c.syncs, fs.syncs.Load()-before)
		})
	}
	for _, c := range []struct {
		name  string
		syncs int64
		call  func() error
	}{
		{"NotRemovedEntries", 0, func() error { return s.RemoveEntriesTo(2, 1, 2) }},
		{"ABootstrap", 1, func() error { return s.SaveBootstrapInfo(2, 1, raftpb.Bootstrap{Join: true}) }},
		{"AnImport", 1, func() error { return s.ImportSnapshot(snapshotAt(9, 2), 7) }},
		{"ARemoval", 1, func() error { return s.RemoveNodeData(1, 7) }},
		{"NotAnOldSnapshot", 0, func() error {
			return s.SaveSnapshots([]raftpb.Update{{ShardID: 1, ReplicaID: 1, Snapshot: snapshotAt(40, 2)}})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := fs.syncs.Load()
			require.NoError(t, c.call())
			require.Equal(t, c.syncs, fs.syncs.Load()-before)
		})
	}
}

func TestASyncThatFailedStaysFailed(t *testing.T) {
	mem := vfs.NewCrashableMem()
	fs := newLogFS(mem)
	s, err := open(testDir, Options{FS: fs}, smallMemTable)
	require.NoError(t, err)
	save(t, s, update(raftpb.State{Term: 1}, entries(1, 1, 3)...))

	fs.failing.Store(true)
	failed := s.SaveRaftState([]raftpb.Update{update(raftpb.State{}, entries(1, 4, 5)...)}, 1)
	require.ErrorIs(t, failed, syscall.EIO)
	require.ErrorContains(t, failed, testDir)
	fs.failing.Store(false)

	// The disk is well again, but nobody knows what became of those bytes.
	require.Equal(t, failed, s.SaveRaftState([]raftpb.Update{update(raftpb.State{}, entries(1, 6, 6)...)}, 1))
	require.Equal(t, failed, s.SaveRaftState([]raftpb.Update{update(raftpb.State{Term: 1, Commit: 2})}, 1), "not even unsynced")
	require.Equal(t, failed, s.SaveSnapshots(nil))
	require.Equal(t, failed, s.SaveBootstrapInfo(1, 1, raftpb.Bootstrap{}))
	require.Equal(t, failed, s.RemoveEntriesTo(1, 1, 1))
	require.Equal(t, failed, s.RemoveNodeData(1, 1))
	require.Equal(t, failed, s.ImportSnapshot(snapshotAt(1, 1), 1))
	require.NotEmpty(t, read(t, s, 1, 4), "what was saved can still be read")
	require.ErrorIs(t, s.Close(), syscall.EIO)

	s = openAt(t, mem.CrashClone(vfs.CrashCloneCfg{}))
	require.Equal(t, brief(entries(1, 1, 3)), brief(read(t, s, 1, 9)))
}

func TestWhatWouldBreakTheLogIsRefused(t *testing.T) {
	s := openAt(t, vfs.NewMem())
	save(t, s, update(raftpb.State{Term: 3, Commit: 6}, entries(3, 1, 10)...))
	saveSnapshot(t, s, snapshotAt(5, 3))
	require.NoError(t, s.RemoveEntriesTo(1, 1, 4))
	ids := []replicaID{{1, 1}, {2, 1}}
	before, err := dump(s, ids)
	require.NoError(t, err)
	one := func(u raftpb.Update) error {
		// The update before it must not be written either.
		first := raftpb.Update{ShardID: 2, ReplicaID: 1, State: raftpb.State{Term: 1}}
		return s.SaveRaftState([]raftpb.Update{first, u}, 1)
	}
	for _, c := range []struct {
		name string
		err  error
	}{
		{"AGapBehindTheLastEntry", one(update(raftpb.State{}, entries(3, 12, 13)...))},
		{"AGapBetweenEntries", one(update(raftpb.State{}, append(entries(3, 11, 11), entries(3, 13, 13)...)...))},
		{"AnEntryThatWasRemoved", one(update(raftpb.State{}, entries(3, 4, 12)...))},
		{"ATermThatGoesBack", one(update(raftpb.State{Term: 2, Commit: 6}))},
		{"ACommitIndexBeyondTheLog", one(update(raftpb.State{Term: 3, Commit: 11}))},
		{"ALogThatEndsBeforeTheCommitIndex", one(update(raftpb.State{}, entries(4, 5, 5)...))},
		{"ASnapshotBeyondTheLog", s.SaveSnapshots([]raftpb.Update{{ShardID: 1, ReplicaID: 1, Snapshot: snapshotAt(11, 3)}})},
		{"EntriesThatDoNotFollowTheSnapshot", one(raftpb.Update{ShardID: 1, ReplicaID: 1, Snapshot: snapshotAt(20, 3), EntriesToSave: entries(3, 22, 22)})},
		{"AnImportOfNothing", s.ImportSnapshot(raftpb.Snapshot{ShardID: 1}, 1)},
		{"AnImportWithoutAKindOfMachine", s.ImportSnapshot(raftpb.Snapshot{ShardID: 1, Index: 1, Term: 1}, 1)},
	} {
		t.Run(c.name, func(t *testing.T) { require.ErrorIs(t, c.err, ErrBroken) })
	}
	after, err := dump(s, ids)
	require.NoError(t, err)
	require.Equal(t, before, after)
	save(t, s, update(raftpb.State{Term: 3, Commit: 11}, entries(3, 11, 11)...))
}

func TestASnapshotTakesTheCommitIndexAlong(t *testing.T) {
	mem := vfs.NewCrashableMem()
	s, err := open(testDir, Options{FS: mem}, smallMemTable)
	require.NoError(t, err)
	save(t, s, update(raftpb.State{Term: 1, Commit: 2}, entries(1, 1, 10)...))
	// The engine has applied 8 entries before it says that they are committed.
	saveSnapshot(t, s, snapshotAt(8, 1))
	synced := mem.CrashClone(vfs.CrashCloneCfg{})
	require.NoError(t, s.Close())
	require.Equal(t, raftpb.State{Term: 1, Commit: 8}, stateOf(t, openAt(t, synced), 8).State)

	// Its older news come after that.
	s = openAt(t, mem)
	save(t, s, update(raftpb.State{Term: 2, Commit: 7}))
	require.Equal(t, raftpb.State{Term: 2, Commit: 8}, stateOf(t, s, 8).State)
}

func TestASnapshotThatWasReceivedReplacesTheLog(t *testing.T) {
	s := openAt(t, vfs.NewMem())
	save(t, s, update(raftpb.State{Term: 1, Commit: 2}, entries(1, 1, 10)...))
	save(t, s, raftpb.Update{
		ShardID: 1, ReplicaID: 1, State: raftpb.State{Term: 2, Commit: 8},
		Snapshot: snapshotAt(8, 2), EntriesToSave: entries(2, 9, 9),
	})
	require.Empty(t, read(t, s, 1, 9))
	require.Equal(t, brief(entries(2, 9, 9)), brief(read(t, s, 9, 20)), "an entry of the old log is still there")
	state := stateOf(t, s, 8)
	require.Equal(t, uint64(9), state.FirstIndex)
	require.Equal(t, uint64(1), state.EntryCount)
}

func TestAnOverwriteEndsTheLog(t *testing.T) {
	fs := vfs.NewMem()
	s := openAt(t, fs)
	save(t, s, update(raftpb.State{Term: 1, Commit: 2}, entries(1, 1, 10)...))
	save(t, s, update(raftpb.State{Term: 2, Commit: 2}, entries(2, 4, 5)...))
	want := brief(append(entries(1, 1, 3), entries(2, 4, 5)...))
	require.Equal(t, want, brief(read(t, s, 1, 20)))
	// The old tail must not come back behind entries that follow later.
	save(t, s, update(raftpb.State{}, entries(2, 6, 6)...))
	require.Equal(t, uint64(6), stateOf(t, s, 0).EntryCount)
	require.Len(t, read(t, s, 1, 20), 6)
}
