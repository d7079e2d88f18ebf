package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

// What a worker may be told.
const (
	toTurn     = "turn"
	toProgress = "progress"
	toPoise    = "poise"
)

// worker is a client: one goroutine that takes leases and writes under them.
type worker struct {
	crew   *crew
	number int
	orders chan order
	page   *page
	client *history.Client
	random *rand.Rand
	values int

	mu     sync.Mutex
	cancel context.CancelFunc // of what it is doing of its own accord; nil: nothing
}

// errLeft says that the node takes no more requests because it is told to stop.
var errLeft = errors.New("the node is leaving")

func (w *worker) run() {
	for w.crew.life.Err() == nil {
		select {
		case o := <-w.orders:
			w.obey(o)
			continue
		default:
		}
		ctx, done := w.begin()
		err := w.step(ctx)
		done()
		if errors.Is(err, errLeft) {
			w.leave()
			return
		}
	}
}

// leave answers what it can't do any more.
func (w *worker) leave() {
	for {
		select {
		case o := <-w.orders:
			o.done <- answer{err: errLeft}
		case <-w.crew.life.Done():
			return
		}
	}
}

// begin returns a context for what the worker does of its own accord. An order
// ends it.
func (w *worker) begin() (context.Context, func()) {
	ctx, cancel := context.WithCancel(w.crew.life)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel = cancel
	if len(w.orders) > 0 {
		cancel()
	}
	return ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cancel = nil
		cancel()
	}
}

func (w *worker) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.cancel()
	}
}

// wait waits for a while, or until ctx ends or the node leaves.
func (w *worker) wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-w.crew.node.node.Done():
	}
}

// upTo draws a duration.
func (w *worker) upTo(d time.Duration) time.Duration { return time.Duration(w.random.Int64N(int64(d))) }

// likely is true in so many of a hundred cases.
func (w *worker) likely(percent int) bool { return w.random.IntN(100) < percent }

func (w *worker) ttl() time.Duration { return w.crew.node.start.TTL }

// step is one thing that a worker does: one acquire and what comes of it.
func (w *worker) step(ctx context.Context) error {
	w.wait(ctx, w.upTo(10*time.Millisecond))
	family := w.page.keys.families[w.random.IntN(len(w.page.keys.families))]
	key := family[w.random.IntN(len(family))]
	some := w.some(family)
	asked, cancel := w.patience(ctx)
	defer cancel()
	opts, limited := w.options()
	var lease *history.Lease
	var err error
	try := false
	switch n := w.random.IntN(100); {
	case n < 50:
		lease, err = w.client.Acquire(asked, key, opts...)
		some = []string{key}
	case n < 70:
		try = true
		lease, err = w.client.TryAcquire(asked, key, opts...)
		some = []string{key}
	case n < 90:
		lease, err = w.client.AcquireAll(asked, some, opts...)
	default:
		try = true
		lease, err = w.client.TryAcquireAll(asked, some, opts...)
	}
	if err != nil {
		return w.judge(asked, try, err)
	}
	w.own(ctx, lease, some, limited)
	return nil
}

// some draws keys of a family, in any order.
func (w *worker) some(family []string) []string {
	n := 1 + w.random.IntN(len(family))
	var some []string
	for _, i := range w.random.Perm(len(family))[:n] {
		some = append(some, family[i])
	}
	return some
}

// patience draws for how long an acquire is waited for: it may be given up very
// soon, in the midst of a grant.
func (w *worker) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	switch n := w.random.IntN(100); {
	case n < 15:
		return context.WithTimeout(ctx, w.upTo(10*time.Millisecond))
	case n < 30:
		return context.WithTimeout(ctx, w.upTo(300*time.Millisecond))
	}
	return context.WithTimeout(ctx, w.upTo(4*w.ttl()))
}

// options draws the options of an acquire, and says whether the hold is limited.
func (w *worker) options() (opts []coordinator.AcquireOption, limited bool) {
	shortest := 4 * w.crew.node.start.Election
	if w.likely(25) {
		opts = append(opts, coordinator.WithTTL(shortest+w.upTo(w.ttl())))
	}
	if limited = w.likely(5); limited {
		opts = append(opts, coordinator.WithMaxHold(shortest+w.upTo(w.ttl())))
	}
	if w.likely(20) {
		opts = append(opts, coordinator.WithMetadata(fmt.Sprintf("worker %d", w.number)))
	}
	return opts, limited
}

// own is what a worker does with a lease. ctx may end, which it takes for a
// wish to be done soon.
func (w *worker) own(ctx context.Context, lease *history.Lease, keys []string, limited bool) {
	for range 1 + w.random.IntN(3) {
		if lease.Held() {
			w.write(lease, keys)
		}
		w.wait(ctx, w.upTo(5*time.Millisecond))
	}
	switch n := w.random.IntN(100); {
	case n < 8: // it lingers, and then writes without a look at the lease
		w.wait(ctx, w.upTo(w.ttl()/20))
		w.write(lease, keys)
	case n < 9: // likewise, for long
		w.wait(ctx, w.upTo(2*w.ttl()))
		w.write(lease, keys)
	case n < 10 || limited && n < 20: // it keeps the lease until somebody wants something, or it is lost
		w.keep(ctx, lease)
		w.write(lease, keys)
	case n < 30: // it reads
		for _, key := range keys {
			_, _ = w.client.Read(key, func() (string, error) { return w.read(key) })
		}
	}
	w.release(lease)
}

// keep asks the lease now and then until it is lost, or ctx ends, or it was
// long enough.
func (w *worker) keep(ctx context.Context, lease *history.Lease) {
	ctx, cancel := context.WithTimeout(ctx, 2*w.ttl())
	defer cancel()
	for ctx.Err() == nil && w.crew.node.node.Status().Err == nil && lease.Held() && !w.crew.leaving.Load() {
		w.wait(ctx, 100*time.Millisecond)
	}
}

// write writes a new value to the resource of each key. If a stale token is
// refused and the lease is still held then, two were owners at one time.
func (w *worker) write(lease *history.Lease, keys []string) {
	n := w.crew.node
	for _, key := range keys {
		w.values++
		t := lease.Token(key)
		o := WriteOrder{
			Generation: w.page.generation, Resource: key, Token: t,
			Value: fmt.Sprintf("%d.%d.%d.%d", n.number, n.node.Status().Incarnation, w.number, w.values),
		}
		stale := false
		err := w.client.Write(key, t, o.Value, func() error {
			if err := n.register.Call("Register.Write", o, &stale); err != nil {
				return err
			}
			if stale {
				return token.ErrStale
			}
			return nil
		})
		switch {
		case stale && lease.Held():
			w.report("token %v of %q is still held, but a greater one was in use", t, key)
		case err != nil && !stale:
			w.report("the register does not answer: %v", err)
		}
	}
}

func (w *worker) read(key string) (value string, err error) {
	o := WriteOrder{Generation: w.page.generation, Resource: key}
	err = w.crew.node.register.Call("Register.Read", o, &value)
	return value, err
}

// release gives a lease back. Sometimes it does not wait for the confirmation.
func (w *worker) release(lease *history.Lease) {
	limit := 2 * w.ttl()
	if w.likely(10) {
		limit = 1 + w.upTo(5*time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := lease.Release(ctx)
	switch {
	case err == nil, errors.Is(err, coordinator.ErrLeaseLost):
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil && outcomeOf(err) == coordinator.Unknown:
	default:
		w.report("Release: an error that it does not name: %v", err)
	}
	if lease.Held() {
		w.report("a lease is held after its Release, which said %v", err)
	}
}

// judge says whether an acquire failed as it may. errLeft is the only error
// that it returns.
func (w *worker) judge(ctx context.Context, try bool, err error) error {
	var typed *coordinator.Error
	n := w.crew.node.node
	switch {
	case !errors.As(err, &typed):
		w.report("an error without an outcome: %v", err)
	case errors.Is(err, coordinator.ErrClosed):
		if w.crew.leaving.Load() {
			return errLeft
		}
		w.report("closed, and nobody has closed it: %v; the node says %v", err, n.Status().Err)
		return errLeft
	case errors.Is(err, coordinator.ErrBusy):
		if !try || typed.Outcome == coordinator.Applied {
			w.report("%s: busy, with outcome %v: %v", typed.Op, typed.Outcome, err)
		}
	case errors.Is(err, coordinator.ErrUnavailable):
		if typed.Outcome == coordinator.Applied {
			w.report("unavailable, and applied: %v", err)
		}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		if ctx.Err() == nil {
			w.report("the context's error, and the context has not ended: %v", err)
		}
	case errors.Is(err, coordinator.ErrLeaseLost):
	default:
		w.report("an error that the method does not name: %v", err)
	}
	return nil
}

func outcomeOf(err error) coordinator.Outcome {
	var typed *coordinator.Error
	if errors.As(err, &typed) {
		return typed.Outcome
	}
	return coordinator.Applied
}

// report tells the parent what is wrong.
func (w *worker) report(format string, args ...any) {
	what := fmt.Sprintf("node %d, worker %d: ", w.crew.node.number, w.number) + fmt.Sprintf(format, args...)
	if err := w.crew.node.register.Call("Register.Report", what, &Nothing{}); err != nil {
		complain(fmt.Errorf("%s; and the parent can't be told: %w", what, err))
	}
}
