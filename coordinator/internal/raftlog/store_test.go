package raftlog

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine/pebblestore"
)

func TestCloseIsIdempotentAndFinal(t *testing.T) {
	s, err := open(testDir, Options{FS: vfs.NewMem()}, smallMemTable)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	errs := map[string]error{
		"SaveRaftState":   s.SaveRaftState(nil, 1),
		"SaveSnapshots":   s.SaveSnapshots(nil),
		"SaveBootstrap":   s.SaveBootstrapInfo(1, 1, raftpb.Bootstrap{}),
		"RemoveEntriesTo": s.RemoveEntriesTo(1, 1, 1),
		"RemoveNodeData":  s.RemoveNodeData(1, 1),
		"ImportSnapshot":  s.ImportSnapshot(snapshotAt(1, 1), 1),
	}
	_, _, errs["IterateEntries"] = s.IterateEntries(nil, 0, 1, 1, 1, 2, 0)
	_, errs["ReadRaftState"] = s.ReadRaftState(1, 1, 0)
	_, errs["GetSnapshot"] = s.GetSnapshot(1, 1)
	_, errs["GetBootstrapInfo"] = s.GetBootstrapInfo(1, 1)
	_, errs["ListNodeInfo"] = s.ListNodeInfo()
	_, errs["CompactEntriesTo"] = s.CompactEntriesTo(1, 1, 1)
	for name, err := range errs {
		require.ErrorIs(t, err, ErrClosed, name)
	}
}

func TestADirectoryIsOpenOnce(t *testing.T) {
	dir := t.TempDir()
	s, err := open(dir, Options{}, smallMemTable)
	require.NoError(t, err)
	_, err = open(dir, Options{}, smallMemTable)
	require.ErrorIs(t, err, ErrInUse)
	require.ErrorContains(t, err, dir)
	require.NoError(t, s.Close())
	s, err = open(dir, Options{}, smallMemTable)
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func TestTheFactory(t *testing.T) {
	dir := t.TempDir()
	f := NewFactory(Options{})
	require.Equal(t, "palisade-raftlog", f.Name(), "the engine has it in its directory")
	_, err := f.Create(config.NodeHostConfig{}, nil, []string{dir}, []string{t.TempDir()})
	require.ErrorContains(t, err, "one directory")
	for _, wal := range [][]string{nil, {""}, {dir}} {
		s, err := f.Create(config.NodeHostConfig{}, func(config.LogDBInfo) {}, []string{dir}, wal)
		require.NoError(t, err)
		require.Equal(t, f.Name(), s.Name())
		require.Equal(t, uint32(0x50520001), s.BinaryFormat(), "the engine has it in its directory")
		require.NoError(t, s.Close())
	}
}

// TestOtherDirectoriesAreRefused: with an error that says what was found, and
// without a change.
func TestOtherDirectoriesAreRefused(t *testing.T) {
	database := func(fs vfs.FS, format pebble.FormatMajorVersion, pairs ...string) {
		db, err := pebble.Open(testDir+"/raftlog", &pebble.Options{FS: fs, FormatMajorVersion: format, Logger: databaseLog{newFailure("", orDiscard(nil))}})
		require.NoError(t, err)
		for i := 0; i < len(pairs); i += 2 {
			require.NoError(t, db.Set([]byte(pairs[i]), []byte(pairs[i+1]), pebble.Sync))
		}
		require.NoError(t, db.Close())
	}
	file := func(fs vfs.FS, name string) {
		f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	for _, c := range []struct {
		name, found string
		prepare     func(fs vfs.FS)
	}{
		{"TheEnginesShardedPebble", "logdb-0, a log store of another kind: the engine's sharded pebble", func(fs vfs.FS) {
			require.NoError(t, fs.MkdirAll(testDir+"/logdb-0", 0o755))
		}},
		{"TheEnginesTan", "tandb, a log store of another kind: the engine's Tan", func(fs vfs.FS) {
			require.NoError(t, fs.MkdirAll(testDir+"/tandb", 0o755))
		}},
		{"AnEarlierPebble", "a database of an earlier pebble", func(fs vfs.FS) {
			require.NoError(t, fs.MkdirAll(testDir+"/raftlog", 0o755))
			file(fs, testDir+"/raftlog/CURRENT")
		}},
		{"TheStoreOfTheMachines", "the store of the lock machines, version 1", func(fs vfs.FS) {
			s, err := pebblestore.Open(testDir+"/raftlog", pebblestore.Options{FS: fs})
			require.NoError(t, err)
			require.NoError(t, s.Close())
		}},
		{"ALaterVersion", "a log store of version 2", func(fs vfs.FS) { database(fs, databaseFormat, "\x00", storeMagic+"\x00\x02") }},
		{"AnotherFormatRecord", "format record 6f74686572", func(fs vfs.FS) { database(fs, databaseFormat, "\x00", "other") }},
		{"ADatabaseOfAnybody", "no format record, but key 6b6579", func(fs vfs.FS) { database(fs, databaseFormat, "key", "value") }},
		{"ADatabaseOfAnybodyInAnEarlierFormat", `a pebble database of format "020", not 21`, func(fs vfs.FS) {
			database(fs, databaseFormat-1, "key", "value")
		}},
		{"ADatabaseInALaterFormat", `a pebble database of format "22", not 21`, func(fs vfs.FS) { laterFormat(t, fs, "22") }},
		{"ADatabaseInAFormatThatIsNone", `a pebble database of format "zz", not 21`, func(fs vfs.FS) { laterFormat(t, fs, "zz") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := vfs.NewMem()
			c.prepare(fs)
			before := listing(t, fs)
			_, err := open(testDir, Options{FS: fs}, smallMemTable)
			var format *FormatError
			require.ErrorAs(t, err, &format)
			require.Equal(t, c.found, format.Found)
			require.True(t, strings.HasPrefix(format.Dir, testDir))
			require.ErrorContains(t, err, c.found)
			if !strings.Contains(c.found, "version") && !strings.Contains(c.found, "record") {
				require.ElementsMatch(t, before, listing(t, fs))
			}
		})
	}
}

// laterFormat makes a database whose format is said to be text.
func laterFormat(t *testing.T, fs vfs.FS, text string) {
	s, err := open(testDir, Options{FS: fs}, smallMemTable)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	marker, _, err := atomicfs.LocateMarker(fs, testDir+"/raftlog", formatMarker)
	require.NoError(t, err)
	require.NoError(t, marker.Move(text))
	require.NoError(t, marker.Close())
}

func listing(t *testing.T, fs vfs.FS) []string {
	names, err := fs.List(testDir)
	require.NoError(t, err)
	below, _ := fs.List(testDir + "/raftlog")
	return append(names, below...)
}

// TestDamageIsFoundAndNamed puts damaged values where the checksums of pebble
// find nothing.
func TestDamageIsFoundAndNamed(t *testing.T) {
	id := replicaID{1, 1}
	prepare := func(t *testing.T) (*vfs.MemFS, func(edit func(*pebble.Batch))) {
		fs := vfs.NewMem()
		s, err := open(testDir, Options{FS: fs}, smallMemTable)
		require.NoError(t, err)
		require.NoError(t, s.SaveBootstrapInfo(1, 1, raftpb.Bootstrap{Join: true}))
		save(t, s, update(raftpb.State{Term: 1, Commit: 8}, entries(1, 1, 10)...))
		saveSnapshot(t, s, snapshotAt(5, 1))
		require.NoError(t, s.Close())
		return fs, func(edit func(*pebble.Batch)) {
			s, err := open(testDir, Options{FS: fs}, smallMemTable)
			require.NoError(t, err)
			require.NoError(t, s.alone(func(c *change) error { edit(c.batch); return nil }))
			require.NoError(t, s.Close())
		}
	}
	readAll := func(s *Store) (errs []error) {
		_, err := s.ReadRaftState(1, 1, 5)
		errs = append(errs, err)
		_, _, err = s.IterateEntries(nil, 0, 1, 1, 6, 11, 1<<40)
		errs = append(errs, err)
		_, err = s.GetSnapshot(1, 1)
		errs = append(errs, err)
		_, err = s.GetBootstrapInfo(1, 1)
		return append(errs, err)
	}
	set := func(key, value []byte) func(*pebble.Batch) {
		return func(b *pebble.Batch) { _ = b.Set(key, value, nil) }
	}
	for _, c := range []struct {
		name, says string
		change     func(*pebble.Batch)
	}{
		{"AStatusThatIsCut", "status has 39 bytes", set(keyOf(id, kindStatus), make([]byte, 39))},
		{"ACommitIndexBeyondTheLog", "commit 11, last 10", set(keyOf(id, kindStatus), statusValue(11, 0, 10))},
		{"MoreRemovedThanThereWas", "removed 11", set(keyOf(id, kindStatus), statusValue(8, 11, 10))},
		{"ASnapshotBeyondTheCommitIndex", "snapshot 5 is beyond the commit index 4", set(keyOf(id, kindStatus), statusValue(4, 0, 10))},
		{"ALogWithoutItsEnd", "entry 12 of 1 to 12 is missing", set(keyOf(id, kindStatus), statusValue(8, 0, 12))},
		{"AnEntryThatIsMissing", "entry 8 follows entry 6", func(b *pebble.Batch) { _ = b.Delete(entryKey(id, 7), nil) }},
		{"AnEntryThatIsNone", "entry 7", set(entryKey(id, 7), []byte("nonsense"))},
		{"AnEntryInTheWrongPlace", "entry 7 says that it is entry 9", set(entryKey(id, 7), marshal(t, &entries(1, 9, 9)[0]))},
		{"AnEntryWithMoreBehindIt", "entry 7", set(entryKey(id, 7), append(marshal(t, &entries(1, 7, 7)[0]), 0))},
		{"ASnapshotThatIsNone", "snapshot", set(keyOf(id, kindSnapshot), []byte{0xff})},
		{"ASnapshotOfNothing", "snapshot without an index", set(keyOf(id, kindSnapshot), nil)},
		{"ABootstrapThatIsNone", "bootstrap", set(keyOf(id, kindBootstrap), []byte{0xff})},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs, damage := prepare(t)
			damage(c.change)
			s := openAt(t, fs)
			found := 0
			for _, err := range readAll(s) {
				if err == nil {
					continue
				}
				found++
				require.ErrorIs(t, err, ErrCorrupt)
				require.ErrorContains(t, err, c.says)
				require.ErrorContains(t, err, "group 1 replica 1")
				require.ErrorContains(t, err, testDir)
			}
			require.Positive(t, found)
		})
	}
	t.Run("AKeyOfNobody", func(t *testing.T) {
		fs, damage := prepare(t)
		damage(set([]byte{spaceReplica, 7}, nil))
		_, err := openAt(t, fs).ListNodeInfo()
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, "key 0107")
	})
}

func statusValue(commit, removed, last uint64) []byte {
	value := make([]byte, statusBytes)
	status{State: raftpb.State{Term: 1, Commit: commit}, removed: removed, last: last}.put(value)
	return value
}

func marshal(t testing.TB, record interface{ Marshal() ([]byte, error) }) []byte {
	t.Helper()
	value, err := record.Marshal()
	require.NoError(t, err)
	return value
}
