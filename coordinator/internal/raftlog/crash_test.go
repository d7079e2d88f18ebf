package raftlog

import (
	"testing"

	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/pebbletest"
)

// TestACrashLeavesWhatWasAcknowledged is invariant 1: whatever the moment, there
// is a prefix of the operations, with every one that was synced.
func TestACrashLeavesWhatWasAcknowledged(t *testing.T) {
	rng := newRand(t)
	cam := pebbletest.NewCamera(testStoreDir, rng)
	cam.Only(pebbletest.Every(2 * sample))
	s, err := open(testDir, Options{FS: cam}, smallMemTable)
	require.NoError(t, err)

	h := newHistory(rng, 250, 2000)
	pictures, lost, kept, unsynced := 0, 0, 0, 0
	look := func() {
		cam.Each(t, func(crash pebbletest.Crash) {
			pictures++
			s, err := open(testDir, Options{FS: crash.FS}, smallMemTable)
			require.NoError(t, err, crash.At)
			n := h.find(t, s, crash.Low, crash.High, crash.At)
			if n < crash.High {
				lost++
			}
			if n > crash.Low {
				kept++
			}
			goesOn(t, s)
			require.NoError(t, s.Close(), crash.At)
		})
	}
	for n, op := range h.ops {
		cam.Begun.Store(int64(n + 1))
		require.NoError(t, op.call(s), op.name)
		if op.synced {
			cam.Durable.Store(int64(n + 1))
		} else {
			unsynced++
			cam.Now("after " + op.name)
		}
		look()
	}
	rotations := s.db.Metrics().Flush.Count
	require.NoError(t, s.Close())
	cam.Durable.Store(int64(len(h.ops)))
	cam.Now("after Close")
	look()

	t.Logf("%d crashes, %d lost something, %d kept what was not acknowledged; %d unsynced operations, %d flushes", pictures, lost, kept, unsynced, rotations)
	// The test must have seen what it is about.
	require.Greater(t, pictures, 500/sample)
	require.Greater(t, lost, 100/sample)
	require.Greater(t, kept, 20/sample)
	require.Greater(t, unsynced, 20)
	require.Greater(t, rotations, int64(5))
}

// goesOn checks that a store works which was opened after a crash.
func goesOn(t *testing.T, s *Store) {
	t.Helper()
	const group = 77 // nobody else's
	for index := uint64(1); index <= 3; index++ {
		u := raftpb.Update{
			ShardID: group, ReplicaID: 1, State: raftpb.State{Term: index, Commit: index - 1},
			EntriesToSave: entries(index, index, index),
		}
		require.NoError(t, s.SaveRaftState([]raftpb.Update{u}, 1))
	}
	list, _, err := s.IterateEntries(nil, 0, group, 1, 1, 9, 1<<40)
	require.NoError(t, err)
	require.Len(t, list, 3)
}

// TestACrashDuringOpenIsRepairedByTheNext: the first Open of a directory, with a
// crash at every operation.
func TestACrashDuringOpenIsRepairedByTheNext(t *testing.T) {
	cam := pebbletest.NewCamera(testStoreDir, newRand(t))
	s, err := open(testDir, Options{FS: cam}, smallMemTable)
	require.NoError(t, err)
	cam.Now("after Open")
	synced := cam.Synced()
	require.NoError(t, s.Close())

	born := openAt(t, synced)
	key, err := born.firstKey(nil)
	require.NoError(t, err)
	require.Equal(t, []byte{spaceFormat}, key, "Open returned before the format was on disk")

	pictures := 0
	cam.Each(t, func(crash pebbletest.Crash) {
		pictures++
		s, err := open(testDir, Options{FS: crash.FS}, smallMemTable)
		require.NoError(t, err, crash.At)
		require.NoError(t, s.SaveBootstrapInfo(1, 1, raftpb.Bootstrap{Join: true}))
		require.NoError(t, s.Close())
		s, err = open(testDir, Options{FS: crash.FS}, smallMemTable)
		require.NoError(t, err, crash.At)
		list, err := s.ListNodeInfo()
		require.NoError(t, err)
		require.Len(t, list, 1, crash.At)
		require.NoError(t, s.Close())
	})
	require.Greater(t, pictures, 20)
}
