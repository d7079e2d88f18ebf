package torture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

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
