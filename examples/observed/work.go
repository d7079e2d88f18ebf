package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// work has all workers of all nodes work until ctx ends. It returns the first
// error that none of them should meet.
func work(ctx context.Context, all nodes) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	guard := token.NewGuard() // of what the keys protect; see docs/fencing.md
	var working sync.WaitGroup
	for _, n := range all {
		for _, w := range []struct {
			workers int
			turn    func(context.Context, *node) error
		}{
			{8, order}, {4, report}, {2, transfer}, {1, glance}, {1, shift},
			{1, func(ctx context.Context, n *node) error { return nightly(ctx, n, guard) }},
		} {
			for range w.workers {
				working.Add(1)
				go func() {
					defer working.Done()
					for ctx.Err() == nil {
						switch err := w.turn(ctx, n); {
						case err == nil, ctx.Err() != nil:
						case errors.Is(err, coordinator.ErrClosed):
							return
						case errors.Is(err, coordinator.ErrUnavailable), errors.Is(err, coordinator.ErrLeaseLost):
							pause(ctx, electionTimeout) // there is no quorum
						default:
							cancel(err)
						}
					}
				}()
			}
		}
	}
	working.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// order is short work on one of many keys.
func order(ctx context.Context, n *node) error {
	return hold(ctx, n, fmt.Sprintf("order/%d", rand.IntN(40)), 30*time.Millisecond)
}

// report is longer work on one key, for which all nodes wait in line.
func report(ctx context.Context, n *node) error {
	return hold(ctx, n, "report/daily", 400*time.Millisecond)
}

// hold does work under a key for about as long as it says.
func hold(ctx context.Context, n *node, key string, about time.Duration) error {
	lease, err := n.Acquire(ctx, key, coordinator.WithWait(10*time.Second))
	if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, coordinator.ErrUnavailable) {
		return nil // a long line
	}
	if err != nil {
		return err
	}
	pause(lease.Context(), about/2+rand.N(about))
	return given(lease.Release(ctx))
}

// transfer is work on two keys at once.
func transfer(ctx context.Context, n *node) error {
	keys := []string{fmt.Sprintf("account/%d", rand.IntN(8)), fmt.Sprintf("account/%d", rand.IntN(8))}
	set, err := n.AcquireAll(ctx, keys)
	if err != nil {
		return err
	}
	pause(set.Context(), 50*time.Millisecond)
	return given(set.Release(ctx))
}

// glance tries a key that is mostly taken, and goes away.
func glance(ctx context.Context, n *node) error {
	lease, err := n.TryAcquire(ctx, "report/daily")
	pause(ctx, 500*time.Millisecond)
	if errors.Is(err, coordinator.ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	return given(lease.Release(ctx))
}

// shift holds a key of the node's own for as long as it can.
func shift(ctx context.Context, n *node) error {
	lease, err := n.Acquire(ctx, fmt.Sprintf("shift/%d", n.Status().NodeID))
	if err != nil {
		return err
	}
	select {
	case <-lease.Done():
	case <-ctx.Done():
	}
	return given(lease.Release(ctx))
}

// nightly takes longer than it is allowed to, does not look at its lease, and writes
// at last. Somebody else has the key by then, and the guard refuses the write.
func nightly(ctx context.Context, n *node, guard *token.Guard) error {
	lease, err := n.Acquire(ctx, "nightly/close", coordinator.WithMaxHold(4*electionTimeout))
	if err != nil {
		return err
	}
	if err := guard.Accept("books", lease.Token()); err != nil {
		return given(lease.Release(ctx))
	}
	pause(ctx, 5*electionTimeout)
	if err := n.metrics.Refused(guard.Accept("books", lease.Token())); err != nil && !errors.Is(err, token.ErrStale) {
		return err
	}
	return given(lease.Release(ctx))
}

// given passes over what a release says of a lease that was lost before.
func given(err error) error {
	if errors.Is(err, coordinator.ErrLeaseLost) {
		return nil
	}
	return err
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
