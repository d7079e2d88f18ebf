package palisade

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/coordinator"
)

// fillers is how many goroutines take the leases of a load.
const fillers = 1024

// load is what a node holds and waits for so that its weight can be measured.
type load struct {
	leases  []*coordinator.Lease // kept, as their holder would
	waiting sync.WaitGroup
	cancel  context.CancelFunc // ends the waits; nil: there are none
}

// leave ends all waits.
func (l *load) leave() {
	if l.cancel == nil {
		return
	}
	l.cancel()
	l.waiting.Wait()
	l.cancel = nil
}

// Fill takes keys and holds them.
func (n *Node) Fill(l peer.Load, _ *member.Nothing) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	leases := make([]*coordinator.Lease, l.Count)
	var next atomic.Int64
	var all sync.WaitGroup
	for range fillers {
		all.Add(1)
		go func() {
			defer all.Done()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= l.Count {
					return
				}
				lease, err := n.node.Acquire(ctx, fmt.Sprintf("%s/%d", l.Prefix, i), coordinator.WithTTL(l.TTL))
				if err != nil {
					cancel(err)
				}
				leases[i] = lease
			}
		}()
	}
	all.Wait()
	n.load.leases = append(n.load.leases, leases...)
	return context.Cause(ctx)
}

// Queue puts requests in line for keys that others hold, and returns when this
// node has seen all in line.
func (n *Node) Queue(l peer.Load, _ *member.Nothing) error {
	_, before := n.standing()
	ctx, cancel := context.WithCancel(context.Background())
	n.load.cancel = cancel
	failed := make(chan error, 1)
	for i := range l.Count {
		n.load.waiting.Add(1)
		go func() {
			defer n.load.waiting.Done()
			_, err := n.node.Acquire(ctx, fmt.Sprintf("%s/%d", l.Prefix, i%l.Lines), coordinator.WithTTL(l.TTL))
			if ctx.Err() != nil {
				return
			}
			select {
			case failed <- fmt.Errorf("a request that should stand in line: %w", errors.Join(err, errors.New("its wait is over"))):
			default:
			}
		}()
	}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, waits := n.standing(); waits >= before+l.Count {
			return nil
		}
		select {
		case err := <-failed:
			return err
		case <-ticker.C:
		}
	}
}

// Leave takes the requests in line back.
func (n *Node) Leave(member.Nothing, *member.Nothing) error {
	n.load.leave()
	return nil
}

// Weigh answers the node's weight.
func (n *Node) Weigh(_ member.Nothing, w *peer.Weight) error {
	runtime.GC()
	runtime.GC() // the first one only finds what has a finalizer
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	w.Heap, w.Stacks = stats.HeapAlloc, stats.StackInuse
	w.Leases, w.Waits = n.standing()
	w.Batches = n.node.Status().Batches
	return nil
}

// standing returns how many leases and waits this node's replicas have.
func (n *Node) standing() (leases, waits int) {
	for _, g := range n.node.Status().Groups {
		leases += g.Leases
		waits += g.Waits
	}
	return leases, waits
}
