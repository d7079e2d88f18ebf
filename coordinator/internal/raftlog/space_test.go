package raftlog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// logsBytesMax is what the write-ahead logs take on disk: pebble keeps old ones to
// write over.
const logsBytesMax = (memTablesMax + 2) * memTableBytes

func openForSpace(t *testing.T) *Store {
	t.Helper()
	s, err := open(t.TempDir(), Options{FS: newUnsynced()}, memTableBytes)
	require.NoError(t, err)
	return s
}

// TestSpaceOfRemovedEntriesComesBack: nobody asks for it but the writes that follow.
func TestSpaceOfRemovedEntriesComesBack(t *testing.T) {
	const groups, rounds, kept, bound = 3, 1000, 1000, logsBytesMax + 4*memTableBytes
	s := openForSpace(t)
	var written, peak uint64
	for n := uint64(1); n <= rounds; n++ {
		for group := uint64(1); group <= groups; group++ {
			last := n * 100
			fill(t, s, group, last-99, last)
			written += 100 * 1000
			if n%5 == 0 && last > kept {
				require.NoError(t, s.RemoveEntriesTo(group, 1, last-kept))
				done, err := s.CompactEntriesTo(group, 1, last-kept)
				require.NoError(t, err)
				<-done
			}
		}
		peak = max(peak, s.db.Metrics().DiskSpaceUsage())
	}
	require.NoError(t, s.Close())
	t.Logf("wrote %d KiB, at most %d KiB on disk", written>>10, peak>>10)
	live := uint64(groups * (kept + 500) * 1000)
	require.Greater(t, written, 3*(live+bound))
	require.Less(t, peak, live+bound)
}

func TestSpaceOfARemovedReplicaComesBack(t *testing.T) {
	const n = 20_000
	s := openForSpace(t)
	fill(t, s, 1, 1, n)
	require.NoError(t, s.db.Flush())
	tables := func() int64 { total := s.db.Metrics().Total(); return total.TablesSize }
	require.Greater(t, tables(), int64(n*1000))
	require.NoError(t, s.RemoveNodeData(1, 1))
	deadline := time.Now().Add(patience)
	slower := time.NewTicker(10 * time.Millisecond)
	defer slower.Stop()
	for first := uint64(1); tables() > n*1000/2; first += 100 {
		require.Less(t, time.Now(), deadline, "it did not come back")
		fill(t, s, 2, first, first+99)
		require.NoError(t, s.RemoveEntriesTo(2, 1, first))
		if first > 2*n {
			// What has been written is enough to have pebble compact. It does so beside
			// the writes, and on a busy machine they would be far ahead of it.
			<-slower.C
		}
	}
	require.NoError(t, s.Close())
}
