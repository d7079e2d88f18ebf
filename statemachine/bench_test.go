package statemachine

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/palisade-go/palisade/internal/usagetest"
)

// Numbers of leases that benchmarks fill a machine with.
var fills = []int{10_000, 1_000_000}

// fill returns a machine in which incarnation 1 of node 1 holds that many leases
// of one key each. Nothing of it counts as changed.
func fill(t testing.TB, leases int) *Machine {
	const each = 1000
	g := newGroup(t)
	for first := 1; first <= leases; first += each {
		var commands []Command
		for i := first; i < min(first+each, leases+1); i++ {
			commands = append(commands, acquire(Seq(i), fmt.Sprintf("customer/%08d/billing", i)))
		}
		g.node(1, commands...)
		g.m.TakeChanges()
	}
	return g.m
}

// ofEach runs a benchmark for each number of leases.
func ofEach(b *testing.B, run func(b *testing.B, leases int)) {
	for _, leases := range fills {
		b.Run(fmt.Sprintf("leases=%d", leases), func(b *testing.B) { run(b, leases) })
	}
}

// meter adds up the processor time that an iteration takes, collections of
// garbage included: other work on the machine changes it less than the time.
type meter struct{ from, sum time.Duration }

func (m *meter) start() { m.from = usagetest.Processor() }
func (m *meter) stop()  { m.sum += usagetest.Processor() - m.from }

// report reports what an iteration took for each of its leases.
func (m *meter) report(b *testing.B, leases int) {
	b.ReportMetric(float64(m.sum.Nanoseconds())/float64(b.N)/float64(leases), "cpu-ns/lease")
}

// BenchmarkHeap is what a replica keeps in memory: of a lease with its key, and
// of a request in line.
func BenchmarkHeap(b *testing.B) {
	b.Run("lease", func(b *testing.B) {
		const leases = 200_000
		for range b.N {
			before := int(usagetest.Heap())
			m := fill(b, leases)
			b.ReportMetric(float64(int(usagetest.Heap())-before)/leases, "B/lease")
			runtime.KeepAlive(m)
		}
	})
	b.Run("waiter", func(b *testing.B) {
		const waiters = 100_000
		for range b.N {
			g := newGroup(b)
			g.node(1, acquire(1, "key"))
			before := int(usagetest.Heap())
			for seq := Seq(2); seq < waiters+2; seq++ {
				g.node(2, waitFor(seq, "key"))
				g.m.TakeChanges()
			}
			b.ReportMetric(float64(int(usagetest.Heap())-before)/waiters, "B/waiter")
			runtime.KeepAlive(g)
		}
	})
}

// BenchmarkApply is the life of a thousand leases, in two batches.
func BenchmarkApply(b *testing.B) {
	const leases = 1000
	g := newGroup(b)
	names := make([]string, leases)
	for i := range names {
		names[i] = fmt.Sprintf("customer/%08d/billing", i)
	}
	seq := Seq(0)
	var cpu meter
	b.ReportAllocs()
	b.ResetTimer()
	cpu.start()
	for range b.N {
		acquires, releases := make([]Command, leases), make([]Command, leases)
		for i := range leases {
			seq++
			acquires[i], releases[i] = acquire(seq, names[i]), Release{Seq: seq}
		}
		g.node(1, acquires...)
		g.m.TakeChanges()
		g.node(1, releases...)
		g.m.TakeChanges()
	}
	cpu.stop()
	cpu.report(b, leases)
}

// BenchmarkBatch is the encoding and decoding of a batch of a thousand acquires.
func BenchmarkBatch(b *testing.B) {
	const leases = 1000
	batch := Batch{Node: 1, Incarnation: 1, Number: 1, Speaks: Binary}
	for i := range leases {
		batch.Commands = append(batch.Commands, acquire(Seq(i+1), fmt.Sprintf("customer/%08d/billing", i)))
	}
	data, err := AppendBatch(nil, batch)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode", func(b *testing.B) {
		var cpu meter
		b.ReportAllocs()
		cpu.start()
		for range b.N {
			if data, err = AppendBatch(data[:0], batch); err != nil {
				b.Fatal(err)
			}
		}
		cpu.stop()
		cpu.report(b, leases)
	})
	b.Run("decode", func(b *testing.B) {
		var cpu meter
		b.ReportAllocs()
		cpu.start()
		for range b.N {
			if _, err := DecodeBatch(data); err != nil {
				b.Fatal(err)
			}
		}
		cpu.stop()
		cpu.report(b, leases)
	})
}

// BenchmarkLoad makes a machine from its image, as a start does.
func BenchmarkLoad(b *testing.B) {
	ofEach(b, func(b *testing.B, leases int) {
		var image []Record
		for key, value := range fill(b, leases).Records() {
			image = append(image, Record{key, value})
		}
		records := func(yield func(key, value []byte) bool) {
			for _, r := range image {
				if !yield(r.Key, r.Value) {
					return
				}
			}
		}
		var cpu meter
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			runtime.GC() // of the last one
			cpu.start()
			m, err := Load(testGenesis, records)
			cpu.stop()
			if err != nil {
				b.Fatal(err)
			}
			if n := m.Stats().Leases; n != leases {
				b.Fatalf("%d leases, not %d", n, leases)
			}
		}
		cpu.report(b, leases)
	})
}

// BenchmarkSweep ends what an incarnation left, slice by slice, as all replicas
// do after a start.
func BenchmarkSweep(b *testing.B) {
	ofEach(b, func(b *testing.B, leases int) {
		var cpu meter
		b.ReportAllocs()
		for range b.N {
			b.StopTimer()
			m := fill(b, leases)
			runtime.GC()
			b.StartTimer()
			cpu.start()
			index := m.Meta().Applied + 1
			m.Apply(index, Batch{Node: 1, Incarnation: 2, Number: 1, Speaks: Binary})
			for m.Leftovers(1) > 0 {
				index++
				m.Apply(index, Batch{Commands: []Command{Sweep{Node: 1}}})
				m.TakeChanges()
			}
			cpu.stop()
			if n := m.Stats().Leases; n != 0 {
				b.Fatalf("%d leases are left", n)
			}
		}
		cpu.report(b, leases)
	})
}
