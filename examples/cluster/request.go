package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// request is an acquire that goes on. A nil request has no place in line and
// gets no answer.
type request struct {
	places  chan string // at most one
	answers chan grant  // one
}

// grant is the answer to a request.
type grant struct {
	lease *coordinator.Lease
	err   error
}

// begin asks for the lock. The end of ctx ends the wait, not the hold.
func begin(ctx context.Context, node *coordinator.Coordinator) *request {
	r := &request{make(chan string, 1), make(chan grant, 1)}
	name := fmt.Sprintf("incarnation %d", node.Status().Incarnation)
	ctx, cancel := context.WithCancel(ctx)
	go r.look(ctx, node, name)
	go func() {
		defer cancel()
		lease, err := node.Acquire(ctx, documentKey, coordinator.WithMetadata(name))
		r.answers <- grant{lease, err}
	}()
	return r
}

func (r *request) place() <-chan string {
	if r == nil {
		return nil
	}
	return r.places
}

func (r *request) answer() <-chan grant {
	if r == nil {
		return nil
	}
	return r.answers
}

// lookEvery is how often the line is looked at. There is no signal to wait for.
const lookEvery = 50 * time.Millisecond

// look tells once who is ahead, if the request stands in line before ctx
// ends.
func (r *request) look(ctx context.Context, node *coordinator.Coordinator, name string) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		// A group that does not answer in time is looked at again.
		if info, err := node.Inspect(ctx, documentKey); err == nil {
			if ahead, found := aheadOf(info, node.Status().NodeID, name); found {
				r.places <- "behind " + strings.Join(ahead, ", ")
				return
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// aheadOf lists the holder of a key and those who stand before a waiter, and
// says whether the waiter is there. Its name tells it from one that an earlier
// incarnation left.
func aheadOf(info coordinator.KeyInfo, node coordinator.NodeID, name string) (ahead []string, found bool) {
	if info.Holder != nil {
		ahead = append(ahead, fmt.Sprintf("node %d", info.Holder.Node))
	}
	for _, w := range info.Waiters {
		if w.Node == node && w.Metadata == name {
			return ahead, true
		}
		ahead = append(ahead, fmt.Sprintf("node %d", w.Node))
	}
	return nil, false
}
