package coordinator

import (
	"context"
	"errors"
	"fmt"
)

// leaseContext ends with its lease. Its Err looks at the clock, so that it
// reports the loss even before anything has closed Done.
type leaseContext struct {
	context.Context // ended by the ownership, with the cause
	handle          *handle
}

// Done implements context.Context.
func (c leaseContext) Done() <-chan struct{} {
	c.handle.observe()
	return c.Context.Done()
}

// Err implements context.Context.
func (c leaseContext) Err() error {
	_ = c.handle.err() // latches a loss and ends the inner context
	return c.Context.Err()
}

// Value implements context.Context.
func (c leaseContext) Value(key any) any {
	if key == (ownerKey{}) {
		return &link{c.handle.own, chainOf(c.Context)}
	}
	return c.Context.Value(key)
}

// ownerKey is the context key of the chain of ownerships that a context
// comes from.
type ownerKey struct{}

// link is one ownership of that chain, the innermost first.
type link struct {
	owner *ownership
	outer *link
}

func chainOf(ctx context.Context) *link {
	l, _ := ctx.Value(ownerKey{}).(*link)
	return l
}

// derivesFrom reports whether a context comes from an ownership.
func derivesFrom(ctx context.Context, o *ownership) bool {
	for l := chainOf(ctx); l != nil; l = l.outer {
		if l.owner == o {
			return true
		}
	}
	return false
}

// heldByContext returns a key of keys that is still held by an ownership which
// the context comes from.
func (c *Coordinator) heldByContext(ctx context.Context, keys []string) (string, bool) {
	for l := chainOf(ctx); l != nil; l = l.outer {
		if l.owner.c != c || l.owner.Err() != nil {
			continue
		}
		for _, key := range keys {
			if l.owner.has(key) {
				return key, true
			}
		}
	}
	return "", false
}

// boundContext is what Bind returns.
type boundContext struct {
	context.Context
	handle *handle
	cancel context.CancelCauseFunc
}

// Err implements context.Context. It looks at the clock, as leaseContext
// does.
func (c *boundContext) Err() error {
	if end := c.handle.err(); end != nil {
		c.cancel(end) // without waiting for the goroutine of the AfterFunc
	}
	return c.Context.Err()
}

// Value implements context.Context.
func (c *boundContext) Value(key any) any {
	if key == (ownerKey{}) {
		return &link{c.handle.own, chainOf(c.Context)}
	}
	return c.Context.Value(key)
}

// checkContext refuses a missing context and one that has ended already.
func checkContext(op, key string, ctx context.Context) error {
	if ctx == nil {
		return &Error{op, key, NotApplied, fmt.Errorf("%w: the context is nil", ErrInvalid)}
	}
	if ctx.Err() != nil {
		return &Error{op, key, NotApplied, fmt.Errorf("the context has ended already: %w", endOf(ctx))}
	}
	return nil
}

// endOf returns the error of a context that has ended, with its cause if that
// says more.
func endOf(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause != nil && !errors.Is(cause, err) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
