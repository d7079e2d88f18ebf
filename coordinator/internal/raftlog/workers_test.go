package raftlog

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/pebbletest"
)

// TestWorkersAtOnce: step workers with replicas of their own, and crashes while
// they work. Of each worker's operations a prefix is there, with what it was told
// is durable.
func TestWorkersAtOnce(t *testing.T) {
	const workers, operations, crashesMin = 4, 120, 3
	rng := newRand(t)
	mem := vfs.NewCrashableMem()
	s, err := open(testDir, Options{FS: mem}, smallMemTable)
	require.NoError(t, err)

	var mu sync.Mutex // guards the two
	var durable, begun [workers]int
	histories := make([]history, workers)
	for w := range workers {
		a := newAuthor(rand.New(rand.NewPCG(rng.Uint64(), 0)))
		a.ids = []replicaID{{uint64(10 + w), 1}, {uint64(10 + w), 2}, {uint64(20 + w), 1}}
		histories[w] = writeHistory(a, operations)
	}
	// No worker gets far ahead of the first pictures.
	var taken [crashesMin]chan struct{}
	for i := range taken {
		taken[i] = make(chan struct{})
	}
	var group sync.WaitGroup
	for w := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for n, op := range histories[w].ops {
				if share := operations / (crashesMin + 1); n > 0 && n%share == 0 && n/share <= crashesMin {
					<-taken[n/share-1]
				}
				mu.Lock()
				begun[w] = n + 1
				mu.Unlock()
				if err := op.call(s); err != nil {
					t.Errorf("worker %d: %s: %v", w, op.name, err)
					return
				}
				if op.synced {
					mu.Lock()
					durable[w] = n + 1
					mu.Unlock()
				}
			}
		}()
	}
	finished := make(chan struct{})
	go func() {
		group.Wait()
		close(finished)
	}()
	crashes := 0
	for running := true; running; crashes++ {
		select {
		case <-finished:
			running = false
		default:
		}
		mu.Lock()
		low := durable
		mu.Unlock()
		crashed := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(100), RNG: rng})
		mu.Lock()
		high := begun
		mu.Unlock()
		if crashes < crashesMin {
			close(taken[crashes])
		}
		if pebbletest.Impossible(crashed, testStoreDir) {
			continue
		}
		c, err := open(testDir, Options{FS: crashed}, smallMemTable)
		require.NoError(t, err)
		for w := range workers {
			histories[w].find(t, c, low[w], high[w], fmt.Sprintf("worker %d, crash %d", w, crashes))
		}
		require.NoError(t, c.Close())
	}
	t.Logf("%d crashes", crashes)
	require.GreaterOrEqual(t, crashes, crashesMin)
	for w := range workers {
		require.Equal(t, operations, histories[w].find(t, s, operations, operations, "at the end"))
	}
	require.NoError(t, s.Close())
}

// TestASnapshotWorkerTakesNothingBack: it saves snapshots of the replica that a
// step worker writes at the same time.
func TestASnapshotWorkerTakesNothingBack(t *testing.T) {
	const last = 300
	fs := vfs.NewMem()
	s, err := open(testDir, Options{FS: fs}, smallMemTable)
	require.NoError(t, err)
	saved := make(chan uint64, last)
	snapshots := make(chan error, 1)
	count := 0
	go func() {
		for index := range saved {
			count++
			if err := s.SaveSnapshots([]raftpb.Update{{ShardID: 1, ReplicaID: 1, Snapshot: snapshotAt(index, index)}}); err != nil {
				snapshots <- err
				return
			}
		}
		snapshots <- nil
	}()
	for index := uint64(1); index <= last; index++ {
		u := update(raftpb.State{Term: index, Vote: index, Commit: index - 1}, entries(index, index, index)...)
		save(t, s, u)
		if index%3 == 0 {
			saved <- index // which is more than was said to be committed
			require.NoError(t, s.RemoveEntriesTo(1, 1, index-3))
		}
		state := stateOf(t, s, 0).State
		require.Equal(t, index, state.Term, "the term went back")
		require.Equal(t, index, state.Vote)
		require.GreaterOrEqual(t, state.Commit, index-1)
	}
	close(saved)
	require.NoError(t, <-snapshots)
	require.Equal(t, last/3, count)
	require.NoError(t, s.Close())
	s = openAt(t, fs)
	require.Equal(t, raftpb.State{Term: last, Vote: last, Commit: last}, stateOf(t, s, last).State)
	require.Len(t, read(t, s, last-2, last+1), 3)
}
