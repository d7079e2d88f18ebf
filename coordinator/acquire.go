package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/coordinator/internal/hub"
)

// Acquire waits in line until this node owns key, or until ctx ends. ctx
// bounds the wait and nothing else: the hold ends by Release, loss, max hold,
// Shutdown or Close.
//
// On success the lease's token is greater than every token issued before for
// the key. On failure nothing stays behind: what the call queued or got is
// withdrawn in the background, at the latest when the node is no longer heard
// from. The error is an *Error with one of: the context's error (with
// ErrUnavailable if the group gave no answer), ErrInvalid, ErrQueueFull,
// ErrWouldDeadlock, ErrUnavailable, ErrClosed.
//
// Each successful acquire is its own owner: the same goroutine waits like
// anyone for a key that it holds. Safe for concurrent use. Costs one log entry
// when the key is free, shared with whatever else the node asks of the group
// at that moment; a turn in line costs no more.
func (c *Coordinator) Acquire(ctx context.Context, key string, opts ...AcquireOption) (*Lease, error) {
	o, err := c.acquire(ctx, "Acquire", []string{key}, false, opts)
	if err != nil {
		return nil, err
	}
	return &Lease{o}, nil
}

// TryAcquire asks for key once and never waits in line: if the key is taken,
// or somebody is ahead, it returns a *BusyError (ErrBusy) that names the
// holders. Without a quorum it returns ErrUnavailable after 3 election
// timeouts at the latest. Otherwise as Acquire.
func (c *Coordinator) TryAcquire(ctx context.Context, key string, opts ...AcquireOption) (*Lease, error) {
	o, err := c.acquire(ctx, "TryAcquire", []string{key}, true, opts)
	if err != nil {
		return nil, err
	}
	return &Lease{o}, nil
}

// AcquireAll waits until this node owns all keys, or until ctx ends; it gets
// all or none. Repeated keys count once. Keys of one group are taken in one
// log entry, groups in rising order; so callers of AcquireAll that hold
// nothing else never deadlock, in whatever order they name the keys.
//
// A request waits in all its keys' queues of a group at once, and its place
// reserves: later requests don't pass it on any of its keys. Otherwise as
// Acquire; if a part is lost while others are still waited for, all is given
// back and the error is ErrLeaseLost.
func (c *Coordinator) AcquireAll(ctx context.Context, keys []string, opts ...AcquireOption) (*LeaseSet, error) {
	o, err := c.acquire(ctx, "AcquireAll", keys, false, opts)
	if err != nil {
		return nil, err
	}
	return &LeaseSet{o}, nil
}

// TryAcquireAll is as AcquireAll, and as TryAcquire for each key: all at
// once, or a *BusyError and nothing.
func (c *Coordinator) TryAcquireAll(ctx context.Context, keys []string, opts ...AcquireOption) (*LeaseSet, error) {
	o, err := c.acquire(ctx, "TryAcquireAll", keys, true, opts)
	if err != nil {
		return nil, err
	}
	return &LeaseSet{o}, nil
}

// acquire is the way of every acquire.
func (c *Coordinator) acquire(ctx context.Context, op string, keys []string, try bool, opts []AcquireOption) (*ownership, error) {
	r, err := c.check(op, keys, try, opts)
	if err != nil {
		return nil, err
	}
	if err := checkContext(op, keysText(keys), ctx); err != nil {
		return nil, err
	}
	if err := c.accepts(); err != nil {
		return nil, &Error{op, keysText(keys), NotApplied, err}
	}
	began := c.env.Clock.Now()
	ctx, cancel := c.bound(ctx, r)
	defer cancel()
	var o *ownership
	if r.id != "" {
		o, err = c.shared.acquire(ctx, r)
	} else if err = c.wouldDeadlock(ctx, r); err == nil {
		o = newOwnership(ctx, c, r.keys, r.ttl)
		err = c.take(ctx, r, o)
	}
	c.metrics.waited(c.env.Clock.Now().Sub(began), err)
	if err != nil {
		return nil, err
	}
	return o, nil
}

// wouldDeadlock returns an error if the caller would wait for itself.
func (c *Coordinator) wouldDeadlock(ctx context.Context, r *request) error {
	if key, held := c.heldByContext(ctx, r.keys); held && !r.try {
		return &Error{r.op, keysText(r.keys), NotApplied, fmt.Errorf("%w: %q", ErrWouldDeadlock, shorten(key))}
	}
	return nil
}

// bound adds the request's own bounds to the context of a wait.
func (c *Coordinator) bound(ctx context.Context, r *request) (context.Context, context.CancelFunc) {
	switch limit := 3 * c.cfg.ElectionTimeout; {
	case r.try && (r.wait == 0 || r.wait > limit):
		return context.WithTimeoutCause(ctx, limit, errNoAnswer)
	case r.wait > 0:
		return context.WithTimeout(ctx, r.wait)
	}
	return context.WithCancel(ctx)
}

// errNoAnswer is why a try gives up by itself.
var errNoAnswer = errors.New("no answer within 3 election timeouts")

// take asks the groups of a request in rising order, and gives everything
// back unless it gets it all. Then o is complete; otherwise it has ended, and
// is gone in the end.
func (c *Coordinator) take(ctx context.Context, r *request, o *ownership) error {
	failed := func(outcome Outcome, err error) error {
		o.abandon()
		return &Error{r.op, keysText(r.keys), outcome, err}
	}
	if err := c.remember(o); err != nil {
		return failed(NotApplied, err)
	}
	for i, part := range r.groups {
		call := c.ask(part.group, o, hub.Ask{
			Claims: part.claims, Wait: !r.try, TTL: r.ttl, Limit: r.limit,
			RequestID: r.id, Metadata: r.meta, QueueMax: uint64(c.cfg.Limits.Queue),
		})
		if _, failure := call.wait(ctx, c.life); failure != nil {
			if i > 0 {
				// What earlier groups granted is only now being given back.
				failure.outcome = Unknown
			}
			return failed(failure.outcome, failure.err)
		}
	}
	if err := o.hand(); err != nil {
		return failed(Unknown, fmt.Errorf("lost before it could be handed out: %w", err))
	}
	return nil
}
