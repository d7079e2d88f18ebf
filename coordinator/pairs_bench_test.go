package coordinator_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/logs"
	"github.com/palisade-go/palisade/coordinator/metrics"
	"github.com/palisade-go/palisade/internal/porttest"
	"github.com/palisade-go/palisade/internal/usagetest"
	"github.com/palisade-go/palisade/transport"
)

// openForBenchmark opens three nodes in this process, over TCP, with the default
// settings and without TLS. Each has its own of the observers.
func openForBenchmark(b *testing.B, observers ...func() coordinator.Observer) (nodes []*coordinator.Coordinator) {
	peers := make(map[coordinator.NodeID]string)
	for i, address := range porttest.Take(b, 3) {
		peers[coordinator.NodeID(i+1)] = address
	}
	dir := b.TempDir()
	for number := range coordinator.NodeID(len(peers)) {
		number++
		cfg := coordinator.Config{
			Dir: filepath.Join(dir, fmt.Sprint(number)), Cluster: "benchmark", NodeID: number, Peers: peers,
			Listen: peers[number], TLS: transport.Insecure,
		}
		for _, observer := range observers {
			cfg.Observers = append(cfg.Observers, observer())
		}
		c, err := coordinator.Open(context.Background(), cfg)
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

// BenchmarkObservers is what observing costs: pairs with and without all observers
// of this module, in turns on two clusters in one process. What counts is the
// processor time, and the ratio of the two.
func BenchmarkObservers(b *testing.B) {
	const workers, turns = 64, 10
	ownKey := func(w int) string { return fmt.Sprintf("key %d", w) }
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	clusters := [][]*coordinator.Coordinator{
		openForBenchmark(b),
		openForBenchmark(b,
			func() coordinator.Observer { return metrics.New() },
			func() coordinator.Observer { return logs.New(quiet, logs.Options{}) },
		),
	}
	var ratios []float64
	for range turns {
		var spent [2]time.Duration
		for i, nodes := range clusters {
			before := usagetest.Processor()
			makePairs(b, nodes, workers, b.N, ownKey)
			spent[i] = usagetest.Processor() - before
		}
		ratios = append(ratios, float64(spent[1])/float64(spent[0]))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[0], "least")
	b.ReportMetric(ratios[turns/2], "median")
	b.ReportMetric(ratios[turns-1], "most")
}

func benchmarkPairs(b *testing.B, nodes []*coordinator.Coordinator, workers int, key func(worker int) string) {
	b.ReportAllocs()
	before, entries := usagetest.Processor(), entriesOf(nodes[0])
	makePairs(b, nodes, workers, b.N, key)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
	b.ReportMetric(float64((usagetest.Processor()-before).Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(entriesOf(nodes[0])-entries)/float64(b.N), "entries/op")
}

// makePairs has workers make so many pairs together.
func makePairs(b *testing.B, nodes []*coordinator.Coordinator, workers, count int, key func(worker int) string) {
	ctx := context.Background()
	var done atomic.Int64
	var all sync.WaitGroup
	for w := range workers {
		all.Add(1)
		go func() {
			defer all.Done()
			for done.Add(1) <= int64(count) {
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
}

// entriesOf is how many log entries a node has applied.
func entriesOf(c *coordinator.Coordinator) (sum uint64) {
	for _, g := range c.Status().Groups {
		sum += g.Applied
	}
	return sum
}
