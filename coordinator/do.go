package coordinator

import (
	"context"
	"errors"
	"fmt"
)

// Do acquires key as Acquire does and runs fn under the lease. The context
// given to fn ends with ctx or with the lease, whichever is first. The lease
// is released only after fn has returned, also by a panic or Goexit; ctx
// bounds the wait for the confirmation, and nothing else does: while the group
// does not answer, Do waits for as long as ctx lasts.
//
// To finish a step after ctx has ended, by SIGTERM for instance, fn works with
// lease.Context(), which ends with the lease alone; or use Acquire.
//
// Do returns the error of the acquire, or that of fn as it is. If the lease was lost
// before fn returned, the error is ErrLeaseLost joined with fn's, even when
// fn returned nil: somebody else may have entered while it ran. A release that
// could not be confirmed before ctx ended goes on in the background and is no
// error of Do.
func (c *Coordinator) Do(ctx context.Context, key string, fn func(context.Context, *Lease) error, opts ...AcquireOption) error {
	if fn == nil {
		return noFunction("Do", shorten(key))
	}
	h, err := c.acquire(ctx, "Do", []string{key}, false, opts)
	if err != nil {
		return err
	}
	return h.run(ctx, func(ctx context.Context) error { return fn(ctx, &Lease{h}) })
}

// DoAll is as Do, for several keys; see AcquireAll.
func (c *Coordinator) DoAll(ctx context.Context, keys []string, fn func(context.Context, *LeaseSet) error, opts ...AcquireOption) error {
	if fn == nil {
		return noFunction("DoAll", keysText(keys))
	}
	h, err := c.acquire(ctx, "DoAll", keys, false, opts)
	if err != nil {
		return err
	}
	return h.run(ctx, func(ctx context.Context) error { return fn(ctx, &LeaseSet{h}) })
}

// noFunction refuses a missing fn before anything is acquired.
func noFunction(op, key string) error {
	return &Error{op, key, NotApplied, fmt.Errorf("%w: the function is nil", ErrInvalid)}
}

// run calls fn and gives the ownership back afterwards, in any case. So the
// handle needs no watch: fn may forget it and still rely on it.
func (h *handle) run(ctx context.Context, fn func(context.Context) error) (err error) {
	o := h.own
	bound, unbind := h.bind(ctx)
	// A deferred call runs on panic and Goexit too.
	defer func() {
		unbind()
		end := o.Err()
		// What can fail here is only the wait for the confirmation, or the
		// release of a lost lease; the loss is reported below.
		_ = o.release(ctx)
		if end != nil && !errors.Is(end, ErrReleased) {
			err = errors.Join(o.error("Do", Applied, end), err)
		}
	}()
	return fn(bound)
}
