package raftnode

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/palisade-go/palisade/statemachine"
)

// BenchmarkPropose proposes empty batches on the leader, from some callers at
// once, and waits for each to be applied there.
func BenchmarkPropose(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		for _, callers := range []int{1, 64, 256} {
			b.Run(fmt.Sprintf("%dNodes%dCallers", nodes, callers), func(b *testing.B) {
				b.StopTimer()
				benchmarkPropose(b, nodes, callers)
			})
		}
	}
}

func benchmarkPropose(b *testing.B, nodes, callers int) {
	c := start(b, nodes)
	leader := c.leader(1)
	leader.send(1)
	data, err := statemachine.AppendBatch(nil, statemachine.Batch{Node: leader.id, Incarnation: 1, Number: 1})
	if err != nil {
		b.Fatal(err)
	}
	var left, failed atomic.Int64
	left.Store(int64(b.N))
	var group sync.WaitGroup
	b.StartTimer()
	for range callers {
		group.Add(1)
		go func() {
			defer group.Done()
			applied := make(chan error, 1)
			for left.Add(-1) >= 0 {
				leader.node.Propose(1, data, patience, func(err error) { applied <- err })
				if <-applied != nil {
					failed.Add(1)
				}
			}
		}()
	}
	group.Wait()
	b.StopTimer()
	if failed.Load() > 0 {
		b.Fatalf("%d proposals failed", failed.Load())
	}
}
