package pebblestore

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/usagetest"
	"github.com/palisade-go/palisade/statemachine"
)

// BenchmarkStart is what a store does at the start of a node that held many
// leases: it reads them all, and deletes them as they are swept, a thousand in
// a commit, group by group.
func BenchmarkStart(b *testing.B) {
	const groups, slices, slice = 8, 40, 1000
	const leases = groups * slices * slice
	value := bytes.Repeat([]byte("v"), 64)
	commitSlice := func(image *Image, n int, value []byte) {
		records := make([]statemachine.Record, slice)
		for i := range records {
			key := make([]byte, 25) // as long as that of a lease
			binary.BigEndian.PutUint64(key[17:], uint64(n*slice+i))
			records[i] = statemachine.Record{Key: key, Value: value}
		}
		require.NoError(b, image.Commit(records))
	}
	var read, swept, compacted float64
	for range b.N {
		s, err := Open(b.TempDir(), Options{})
		require.NoError(b, err)
		images := make([]*Image, groups)
		for i := range images {
			images[i] = imageOf(b, s, uint64(i+1), 1)
		}
		for n := range slices {
			for _, image := range images {
				commitSlice(image, n, value)
			}
		}
		require.NoError(b, s.Flush())

		began, found := usagetest.Processor(), 0
		for _, image := range images {
			require.NoError(b, image.Each(func([]byte, []byte) error { found++; return nil }))
		}
		require.Equal(b, leases, found)
		read += float64(usagetest.Processor() - began)

		began = usagetest.Processor()
		before := s.db.Metrics()
		for n := range slices {
			for _, image := range images {
				commitSlice(image, n, nil)
			}
		}
		require.NoError(b, s.Flush())
		after := s.db.Metrics()
		require.NoError(b, s.Close())
		swept += float64(usagetest.Processor() - began)
		written := func(level int) uint64 {
			return after.Levels[level].TableBytesCompacted - before.Levels[level].TableBytesCompacted
		}
		for level := range after.Levels {
			compacted += float64(written(level))
		}
	}
	per := float64(b.N) * leases
	b.ReportMetric(read/per, "cpu-ns/read")
	b.ReportMetric(swept/per, "cpu-ns/swept")
	b.ReportMetric(compacted/per, "B-compacted/swept")
}
