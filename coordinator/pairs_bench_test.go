package coordinator_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/internal/porttest"
	"github.com/palisade-go/palisade/internal/usagetest"
	"github.com/palisade-go/palisade/transport"
)

// openForBenchmark opens three nodes in this process, over TCP, with the default
// settings and without TLS.
func openForBenchmark(b *testing.B) (nodes []*coordinator.Coordinator) {
	peers := make(map[coordinator.NodeID]string)
	for i, address := range porttest.Take(b, 3) {
		peers[coordinator.NodeID(i+1)] = address
	}
	dir := b.TempDir()
	for number := range coordinator.NodeID(len(peers)) {
		number++
		c, err := coordinator.Open(context.Background(), coordinator.Config{
			Dir: filepath.Join(dir, fmt.Sprint(number)), Cluster: "benchmark", NodeID: number, Peers: peers,
			Listen: peers[number], TLS: transport.Insecure,
		})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, c.Close()) })
		nodes = append(nodes, c)
	}
	for _, c := range nodes {
		require.NoError(b, c.WaitReady(context.Background()))
	}
	return nodes
}

// BenchmarkPairs is an acquire and a confirmed release by workers on three nodes,
// each with a key of its own, or all with one.
func BenchmarkPairs(b *testing.B) {
	nodes := openForBenchmark(b)
	for _, workers := range []int{1, 16, 256, 1024} {
		b.Run(fmt.Sprintf("%dOwnKeys", workers), func(b *testing.B) {
			benchmarkPairs(b, nodes, workers, func(w int) string { return fmt.Sprintf("key %d", w) })
		})
	}
	for _, workers := range []int{16, 256} {
		b.Run(fmt.Sprintf("%dOnOneKey", workers), func(b *testing.B) {
			benchmarkPairs(b, nodes, workers, func(int) string { return "key" })
		})
	}
}

func benchmarkPairs(b *testing.B, nodes []*coordinator.Coordinator, workers int, key func(worker int) string) {
	b.ReportAllocs()
	ctx, before, entries := context.Background(), usagetest.Processor(), entriesOf(nodes[0])
	var done atomic.Int64
	var all sync.WaitGroup
	for w := range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for done.Add(1) <= int64(b.N) {
				lease, err := nodes[w%len(nodes)].Acquire(ctx, key(w))
				if err == nil {
					err = lease.Release(ctx)
				}
				if err != nil {
					b.Errorf("a pair: %v", err)
					return
				}
			}
		}()
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
	b.ReportMetric(float64((usagetest.Processor()-before).Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(entriesOf(nodes[0])-entries)/float64(b.N), "entries/op")
}

// entriesOf is how many log entries a node has applied.
func entriesOf(c *coordinator.Coordinator) (sum uint64) {
	for _, g := range c.Status().Groups {
		sum += g.Applied
	}
	return sum
}
