package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// worker does one piece of work after the other, each under a lease, so that
// of all pods one at a time does it.
type worker struct {
	node *coordinator.Coordinator
	key  string
	step time.Duration
	out  io.Writer
	// again paces the questions after one that failed: a ticker's channel.
	again <-chan time.Time
}

// askAgainEach is how often the lease is asked for at most when that fails. It
// can fail at once, while the disk is short of space for instance; without a
// pause it would be tried, and logged, thousands of times a second.
const askAgainEach = time.Second

// stepsMax is how many steps are done under one lease: then it is somebody
// else's turn.
const stepsMax = 60

// run works until stop ends, the node is closed, or nothing can come of going
// on. The error is nil in the first two cases: why a node had to stop by itself
// is in its Status.
func (w *worker) run(stop context.Context) error {
	for stop.Err() == nil {
		lease, err := w.node.Acquire(stop, w.key)
		switch {
		case err == nil:
			w.hold(stop, lease)
		case stop.Err() != nil, errors.Is(err, coordinator.ErrClosed):
			return nil
		case errors.Is(err, coordinator.ErrInvalid):
			return err // it would be as wrong the next time
		default:
			// The place in line was lost with the quorum, or there was none to be
			// had. The new one is at the end of the line.
			fmt.Fprintf(w.out, "asks again: %v\n", err)
			w.pause(stop)
		}
	}
	return nil
}

func (w *worker) pause(stop context.Context) {
	select {
	case <-w.again:
	case <-stop.Done():
	}
}

// hold works under a lease. It is given back when stop has ended, but at a
// safe point: no step is left half done, unless the lease is lost.
func (w *worker) hold(stop context.Context, lease *coordinator.Lease) {
	fmt.Fprintf(w.out, "holds %s with token %s\n", w.key, lease.Token())
	for step := 1; step <= stepsMax && stop.Err() == nil; step++ {
		if err := w.do(lease.Context()); err != nil {
			fmt.Fprintf(w.out, "lost %s: %v\n", w.key, lease.Err())
			return
		}
		fmt.Fprintf(w.out, "did step %d with token %s\n", step, lease.Token())
	}
	// Shutdown bounds how long the confirmation is waited for.
	if err := lease.Release(context.Background()); err != nil {
		fmt.Fprintf(w.out, "released %s, not confirmed: %v\n", w.key, err)
		return
	}
	fmt.Fprintf(w.out, "released %s with token %s\n", w.key, lease.Token())
}

// do stands for one step of the work. A real one passes the context to what it
// calls, and the token to what it writes to.
func (w *worker) do(ctx context.Context) error {
	timer := time.NewTimer(w.step)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
