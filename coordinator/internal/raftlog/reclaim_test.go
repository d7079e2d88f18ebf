package raftlog

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"
)

// fill gives n entries of 1000 bytes to a replica, all of them in a snapshot.
func fill(t *testing.T, s *Store, group, n uint64) {
	t.Helper()
	for first := uint64(1); first <= n; first += 100 {
		list := entries(1, first, first+99)
		for i := range list {
			list[i].Cmd = bytes.Repeat([]byte{byte(i)}, 1000)
		}
		save(t, s, raftpb.Update{ShardID: group, ReplicaID: 1, State: raftpb.State{Term: 1, Commit: first + 99}, EntriesToSave: list})
	}
	require.NoError(t, s.SaveSnapshots([]raftpb.Update{{ShardID: group, ReplicaID: 1, Snapshot: snapshotAt(n, 1)}}))
}

// tableBytes is what the tables on disk take, when the store is closed.
func tableBytes(t *testing.T, dir string) (sum int64) {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(dir, DirName, "*.sst"))
	require.NoError(t, err)
	for _, table := range tables {
		info, err := os.Stat(table)
		require.NoError(t, err)
		sum += info.Size()
	}
	return sum
}

func TestSpaceComesBack(t *testing.T) {
	const n = 3000
	for _, c := range []struct {
		name   string
		remove func(t *testing.T, s *Store)
		left   int64
	}{
		{"NotByItselfAtOnce", func(t *testing.T, s *Store) { require.NoError(t, s.RemoveEntriesTo(1, 1, n)) }, -1},
		{"OfEntriesThatWereRemoved", func(t *testing.T, s *Store) {
			require.NoError(t, s.RemoveEntriesTo(1, 1, n-100))
			await(t, s, n-100)
		}, 300_000},
		{"OfAReplicaThatWasRemoved", func(t *testing.T, s *Store) {
			require.NoError(t, s.RemoveNodeData(1, 1))
			await(t, s, math.MaxUint64)
		}, 200_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := open(dir, Options{FS: newUnsynced()}, memTableBytes)
			require.NoError(t, err)
			fill(t, s, 1, n)
			fill(t, s, 2, 100)
			require.NoError(t, s.db.Flush())
			before := s.db.Metrics().DiskSpaceUsage()
			require.Greater(t, before, uint64(n*1000))
			c.remove(t, s)
			require.Len(t, readOf(t, s, 2, 1, 101), 100, "it took more than it should")
			require.NoError(t, s.Close())
			if c.left < 0 {
				require.Greater(t, tableBytes(t, dir), int64(n*1000), "there is nothing to come back")
			} else {
				require.Less(t, tableBytes(t, dir), c.left)
			}
		})
	}
}

func await(t *testing.T, s *Store, index uint64) {
	t.Helper()
	done, err := s.CompactEntriesTo(1, 1, index)
	require.NoError(t, err)
	<-done
}

func readOf(t *testing.T, s *Store, group, low, high uint64) []raftpb.Entry {
	t.Helper()
	list, _, err := s.IterateEntries(nil, 0, group, 1, low, high, math.MaxUint64)
	require.NoError(t, err)
	return list
}

func TestReclaiming(t *testing.T) {
	// held is a disk that lets no table be made while it is held.
	held := make(chan struct{})
	begun := make(chan struct{}, 100)
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			begun <- struct{}{}
			<-held
		}
		return nil
	}))
	s, err := open(testDir, Options{FS: fs}, memTableBytes)
	require.NoError(t, err)
	fill(t, s, 1, 100)
	first, err := s.CompactEntriesTo(1, 1, 10)
	require.NoError(t, err)
	<-begun // it runs

	second, err := s.CompactEntriesTo(1, 1, 20)
	require.NoError(t, err)
	third, err := s.CompactEntriesTo(1, 1, 30)
	require.NoError(t, err)
	require.Equal(t, second, third, "what waits is one")
	require.NotEqual(t, first, second)

	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	<-s.reclaim.ctx.Done()
	close(held)
	<-first // Close breaks it off, and nobody waits for ever
	<-second
	require.NoError(t, <-closed)
	<-s.reclaim.ask(replicaID{1, 1}, 1)
}

// TestReclaimingEndsWithTheStore: pebble would wait for a flush that fails, for
// ever.
func TestReclaimingEndsWithTheStore(t *testing.T) {
	var failing atomic.Bool
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if failing.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			return syscall.ENOSPC
		}
		return nil
	}))
	s, err := open(testDir, Options{FS: fs}, memTableBytes)
	require.NoError(t, err)
	fill(t, s, 1, 100)
	failing.Store(true)
	done, err := s.CompactEntriesTo(1, 1, 10)
	require.NoError(t, err)
	<-done
	require.ErrorIs(t, s.SaveSnapshots(nil), syscall.ENOSPC)
	require.ErrorIs(t, s.Close(), syscall.ENOSPC)
}
