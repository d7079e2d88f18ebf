package coordinator

import (
	"context"
	"runtime"
	"time"
)

// handle is what one caller of an acquire has of an ownership: a Lease and a
// LeaseSet are handles with a name. The coordinator and its groups know the
// ownership and not its handles, so a handle that its caller has no more is
// collected although the lease is held; see forgotten.go. A nil handle is that
// of no ownership.
//
//	Lease, LeaseSet,
//	leaseContext,     --> handle --> ownership <-- Coordinator.owned, groups
//	boundContext
//
// Each method that answers for the state of the ownership keeps the handle
// until it has the answer. Without that a lease could be taken for forgotten
// during its last use, because a method that has begun needs nothing but the
// ownership.
type handle struct{ own *ownership }

func (h *handle) owned() *ownership {
	if h == nil {
		return nil
	}
	return h.own
}

// context returns a context that keeps the handle.
func (h *handle) context() context.Context {
	if h == nil {
		return neverHeld()
	}
	return leaseContext{h.own.context(), h}
}

// ended returns the channel of the end, which keeps nothing.
func (h *handle) ended() <-chan struct{} {
	if h == nil {
		return closedChan
	}
	h.observe()
	return h.own.ended()
}

// alarm returns the channel of Endangered, which keeps nothing.
func (h *handle) alarm() <-chan struct{} {
	if h == nil {
		return closedChan
	}
	h.observe()
	return h.own.alarm()
}

// observe notes that somebody waits on a channel for the end.
func (h *handle) observe() {
	h.own.observed.Store(true)
	runtime.KeepAlive(h)
}

func (h *handle) err() error {
	defer runtime.KeepAlive(h)
	return h.owned().Err()
}

func (h *handle) state() State {
	defer runtime.KeepAlive(h)
	return h.owned().state()
}

func (h *handle) remaining() time.Duration {
	defer runtime.KeepAlive(h)
	return h.owned().remaining()
}

func (h *handle) ensure(ctx context.Context, d time.Duration) error {
	defer runtime.KeepAlive(h)
	return h.owned().ensure(ctx, d)
}

func (h *handle) release(ctx context.Context) error {
	return h.ending(h.owned().release(ctx))
}

func (h *handle) releaseAsync() error {
	return h.ending(h.owned().giveBack("ReleaseAsync"))
}

// ending returns what a release has returned.
func (h *handle) ending(err error) error {
	if h != nil && h.own.Err() != nil {
		// What has ended is not forgotten, and an object with a finalizer outlives
		// one collection more. This keeps the handle until here, too.
		runtime.SetFinalizer(h, nil)
	}
	return err
}

// bind returns a context that ends with parent or with the ownership.
func (h *handle) bind(parent context.Context) (context.Context, context.CancelFunc) {
	if parent == nil {
		parent = context.Background()
	}
	inner, cancel := context.WithCancelCause(parent)
	if h == nil {
		cancel(errNil)
		return inner, func() {}
	}
	// While bound, the ownership reaches the handle through this function:
	// whoever has no more than the channel of the bound context keeps the
	// lease.
	owned := h.own.context()
	stop := context.AfterFunc(owned, func() {
		cancel(context.Cause(owned))
		runtime.KeepAlive(h)
	})
	return &boundContext{inner, h, cancel}, func() {
		stop()
		cancel(context.Canceled)
	}
}
