package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/coordinator/internal/hub"
)

// Acquire waits in line until this node owns key, or until ctx ends. ctx
// bounds the wait and nothing else: the hold ends by Release, loss, max hold,
// Shutdown or Close. A request in line whose group is not heard for 0.9×T, T
// being its TTL, loses its place and fails with ErrUnavailable; ask again, at
// the end of the line.
//
// On success the lease's token is greater than every token issued before for
// the key. On failure nothing stays behind: what the call queued or got is
// withdrawn in the background, at the latest when the node is no longer heard
// from. The error is an *Error with one of: the context's error (with
// ErrUnavailable if the group gave no answer), ErrInvalid, ErrQueueFull,
// ErrWouldDeadlock, ErrUnavailable, ErrClosed, ErrLeaseLost (it was over before
// it could be handed out). While the node is short of disk space it is
// ErrUnavailable with ErrDiskSpace, at once and not applied: ask another node,
// or pause before asking again.
//
// Each successful acquire is its own owner: the same goroutine waits like
// anyone for a key that it holds. Safe for concurrent use. Costs one log entry
// when the key is free, shared with whatever else the node asks of the group
// at that moment; a turn in line costs no more.
func (c *Coordinator) Acquire(ctx context.Context, key string, opts ...AcquireOption) (*Lease, error) {
	h, err := c.acquire(ctx, "Acquire", []string{key}, false, opts)
	if err != nil {
		return nil, err
	}
	return &Lease{h.watch()}, nil
}

// TryAcquire asks for key once and never waits in line: if the key is taken,
// or somebody is ahead, it returns a *BusyError (ErrBusy) that names the
// holders. Without a quorum it returns ErrUnavailable after 3 election
// timeouts at the latest. Otherwise as Acquire.
func (c *Coordinator) TryAcquire(ctx context.Context, key string, opts ...AcquireOption) (*Lease, error) {
	h, err := c.acquire(ctx, "TryAcquire", []string{key}, true, opts)
	if err != nil {
		return nil, err
	}
	return &Lease{h.watch()}, nil
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
	h, err := c.acquire(ctx, "AcquireAll", keys, false, opts)
	if err != nil {
		return nil, err
	}
	return &LeaseSet{h.watch()}, nil
}

// TryAcquireAll is as AcquireAll, and as TryAcquire for each key: all at
// once, or a *BusyError and nothing.
func (c *Coordinator) TryAcquireAll(ctx context.Context, keys []string, opts ...AcquireOption) (*LeaseSet, error) {
	h, err := c.acquire(ctx, "TryAcquireAll", keys, true, opts)
	if err != nil {
		return nil, err
	}
	return &LeaseSet{h.watch()}, nil
}

// acquire is the way of every acquire.
func (c *Coordinator) acquire(ctx context.Context, op string, keys []string, try bool, opts []AcquireOption) (*handle, error) {
	r, err := c.check(op, keys, try, opts)
	if err != nil {
		return nil, err
	}
	if err := checkContext(op, keysText(keys), ctx); err != nil {
		return nil, err
	}
	if err := c.acceptsNew(); err != nil {
		return nil, &Error{op, keysText(keys), NotApplied, err}
	}
	r.values, r.began = ctx, c.env.Clock.Now()
	ctx, cancel := c.bound(ctx, r)
	defer cancel()
	way := c.acquireAlone
	if r.id != "" {
		way = c.shared.acquire
	}
	h, err := way(ctx, r)
	c.metrics.waited(c.env.Clock.Now().Sub(r.began), err)
	return h, err
}

// acquireAlone is the way of a request that nobody can join.
func (c *Coordinator) acquireAlone(ctx context.Context, r *request) (*handle, error) {
	if err := c.wouldDeadlock(ctx, r); err != nil {
		return nil, err
	}
	o := c.newOwnership(r)
	if err := c.take(ctx, r, o); err != nil {
		return nil, err
	}
	h, owned := o.grip()
	if !owned {
		return nil, c.giveUp(r, o, Unknown, lostEarly(o.Err()))
	}
	return h, nil
}

// giveUp ends what never came into a caller's hands, and says why.
func (c *Coordinator) giveUp(r *request, o *ownership, outcome Outcome, err error) error {
	o.abandon(outcome, err)
	return &Error{r.op, keysText(r.keys), outcome, err}
}

func lostEarly(err error) error { return fmt.Errorf("lost before it could be handed out: %w", err) }

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
	return ctx, func() {}
}

// errNoAnswer is why a try gives up by itself.
var errNoAnswer = errors.New("no answer within 3 election timeouts")

// take asks the groups of a request in rising order, and gives everything
// back unless it gets it all. Then o is complete; otherwise it has ended, and
// is gone in the end.
func (c *Coordinator) take(ctx context.Context, r *request, o *ownership) error {
	if err := c.remember(o); err != nil {
		return c.giveUp(r, o, NotApplied, err)
	}
	meta := pack(c.feed.trace(r.values), r.meta)
	for i, part := range r.groups {
		call := c.ask(part.group, o, hub.Ask{
			Claims: part.claims, Wait: !r.try, TTL: r.ttl, Limit: r.limit,
			RequestID: r.id, Metadata: meta, QueueMax: uint64(c.cfg.Limits.Queue),
		})
		if _, failure := call.wait(ctx, c.life); failure != nil {
			if i > 0 {
				// What earlier groups granted is only now being given back.
				failure.outcome = Unknown
			}
			return c.giveUp(r, o, failure.outcome, failure.err)
		}
	}
	if err := o.hand(); err != nil {
		return c.giveUp(r, o, Unknown, lostEarly(err))
	}
	return nil
}
