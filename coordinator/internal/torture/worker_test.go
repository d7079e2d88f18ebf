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
