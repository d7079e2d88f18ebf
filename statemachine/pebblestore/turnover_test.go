package pebblestore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/bits"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

const diskBytesMax = 64 << 20

// dirBytes returns what the files of the directory take.
func dirBytes(t testing.TB, dir string) uint64 {
	var total uint64
	require.NoError(t, filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return nil // the engine deletes files meanwhile
		}
		total += uint64(info.Size())
		return nil
	}))
	return total
}

// leaseRecords returns what a machine commits when lease n begins, in a batch of
// its own, and what when it ends: the lease's record and the machine's.
func leaseRecords(key func(n uint64) []byte, n uint64, value []byte) (acquire, release []statemachine.Record) {
	meta := func(index uint64) statemachine.Record {
		return statemachine.Record{Key: []byte("m"), Value: binary.BigEndian.AppendUint64(nil, index)}
	}
	return []statemachine.Record{meta(2 * n), {Key: key(n), Value: value}},
		[]statemachine.Record{meta(2*n + 1), {Key: key(n)}}
}

// TestAMillionLeasesLeaveNothingOnDisk is guarantee G11 for the disk: a key that
// is free takes none, however many there were. In the first case most records
// are deleted in the memory that they were written to, and only tombstones reach
// the disk; in the second all records do, and are deleted there.
func TestAMillionLeasesLeaveNothingOnDisk(t *testing.T) {
	leases := uint64(500_000 / sample)
	rising := func(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte("l"), n) }
	scattered := func(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte("l"), bits.Reverse64(n)) }
	for name, c := range map[string]struct {
		key  func(n uint64) []byte
		held uint64 // leases that live at any time
	}{
		"WithShortLivesAndKeysThatRise":       {rising, 1},
		"WithLongLivesAndKeysAllOverThePlace": {scattered, 30_000},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := Open(dir, Options{})
			require.NoError(t, err)
			image := imageOf(t, s, 1, 1)
			value := bytes.Repeat([]byte("v"), 100)
			var peak, peakDir uint64
			for n := range leases + c.held {
				acquire, _ := leaseRecords(c.key, n, value)
				if n < leases {
					commit(t, image, acquire...)
				}
				if n >= c.held {
					_, release := leaseRecords(c.key, n-c.held, value)
					commit(t, image, release...)
				}
				if n%20_000 == 0 {
					require.NoError(t, s.Flush())
				}
				if n%5_000 == 0 {
					peak = max(peak, s.DiskBytes())
					peakDir = max(peakDir, dirBytes(t, dir))
				}
			}
			require.Len(t, contents(t, image), 1, "only the machine's own record is left")
			require.NoError(t, s.Flush())
			t.Logf("peak %d KiB by the engine's count, %d KiB of files; %d KiB at the end", peak>>10, peakDir>>10, s.DiskBytes()>>10)
			require.Less(t, peak, uint64(diskBytesMax))
			require.Less(t, peakDir, uint64(diskBytesMax))
			require.NoError(t, s.Close())
			require.Less(t, dirBytes(t, dir), uint64(diskBytesMax))
		})
	}
}

func TestImagesThatWereReplacedLeaveNothingOnDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	require.NoError(t, err)
	source, image := imageOf(t, s, 1, 1), imageOf(t, s, 1, 2)
	seed := uint64(1)
	for n := range 1000 {
		value := make([]byte, 2000)
		for i := range value {
			seed = seed*6364136223846793005 + 1442695040888963407
			value[i] = byte(seed >> 56)
		}
		commit(t, source, set(fmt.Sprintf("key-%04d", n), string(value)))
	}
	data := stream(t, source)
	var peak uint64
	for range 60 / sample { // 120 MiB in all
		require.NoError(t, image.Recover(bytes.NewReader(data), nil))
		peak = max(peak, dirBytes(t, dir), s.DiskBytes())
	}
	require.NoError(t, s.Flush())
	onlyNamed(t, s, "after many Recovers")
	t.Logf("an image of %d KiB, peak %d KiB", len(data)>>10, peak>>10)
	require.Less(t, peak, uint64(diskBytesMax))
	require.NoError(t, s.Close())
}

// TestEngineOptions pins what is claimed of the engine.
func TestEngineOptions(t *testing.T) {
	opts := engineOptions(nil, newFailure("/here", discardLog()), memTableBytes)
	require.True(t, opts.DisableWAL)
	require.EqualValues(t, 8<<20, opts.MemTableSize)
	require.Equal(t, 4, opts.MemTableStopWritesThreshold)
	require.EqualValues(t, 8<<20, opts.CacheSize)
	require.Equal(t, 128, opts.MaxOpenFiles)
	require.EqualValues(t, 1<<20, opts.MaxManifestFileSize)
	require.Equal(t, pebble.FormatTableFormatV6, opts.FormatMajorVersion)
}

func BenchmarkCommit(b *testing.B) {
	s, err := Open(b.TempDir(), Options{})
	require.NoError(b, err)
	defer s.Close()
	image, err := s.Image(1, 1)
	require.NoError(b, err)
	key := func(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte("l"), n) }
	value := bytes.Repeat([]byte("v"), 100)
	b.ReportAllocs()
	b.ResetTimer()
	for n := range uint64(b.N) {
		acquire, release := leaseRecords(key, n, value)
		if image.Commit(acquire) != nil || image.Commit(release) != nil {
			b.Fatal("commit failed")
		}
	}
}
