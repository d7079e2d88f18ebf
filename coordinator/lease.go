package coordinator

import (
	"context"
	"time"

	"github.com/palisade-go/palisade/token"
)

// State says where in its life a lease is, or the request before it.
type State uint8

// The states. They only move forward, but for Endangered, which turns into
// Active again when renewing works again. The last three are those of a request
// that has no lease, which only observers see.
const (
	// Lost is also the state of a nil lease.
	Lost State = iota
	Active
	Endangered // the last attempt to renew has failed; still owned
	Releasing  // released here, not confirmed by the group yet
	Released
	Asked  // the group has not answered yet
	Queued // it has its place in line
	Failed // it ended without a lease
)

var stateNames = [...]string{"lost", "active", "endangered", "releasing", "released", "asked", "queued", "failed"}

// String returns the name of the state.
func (s State) String() string { return nameOf(stateNames[:], int(s)) }

// Lease is the ownership of one key, for as long as it is renewed, which its
// node does by itself. All methods may be called from several goroutines,
// never block unless they say so, and accept a nil lease, which is lost.
//
// A lease is a permission to try. A process can pause at any point between a
// question to its lease and what it does next; only the resource that checks
// Token keeps it out then.
//
// Keep a lease for as long as you rely on it, and Release it. One that the
// garbage collector finds forgotten while it is held is released and logged,
// once, with its key, its token and for how long it was held, but not with
// the place of its acquire: each acquire would have to pay for that. It is a
// net for a mistake and no way to release: a collection may be minutes away.
//
// A lease is not forgotten while anybody can still observe it. That is whoever
// has the Lease or its Context, or what Bind returned, until the function is
// called that frees the binding. A channel can't be seen to be forgotten: once
// Done or Endangered, or Done of its Context, was called, the lease is left
// as it is. To derive from Context a context that can end is to call Done.
// Callers who share a lease by WithRequestID have a Lease each.
type Lease struct{ handle *handle }

// deref returns the handle; nil of a nil or zero lease.
func (l *Lease) deref() *handle {
	if l == nil {
		return nil
	}
	return l.handle
}

// Key returns the key; "" of a nil lease.
func (l *Lease) Key() string {
	if o := l.deref().owned(); o != nil {
		return o.keys[0]
	}
	return ""
}

// Token returns the fencing token: greater than every token issued before
// for the key. It stays the same for the life of the lease. Zero of a nil
// lease.
func (l *Lease) Token() token.Token {
	if o := l.deref().owned(); o != nil {
		t, _ := o.token(o.keys[0])
		return t
	}
	return 0
}

// Context returns a context with the values of the acquire's context that
// ends when the lease ends; context.Cause tells why: an error with
// ErrReleased or ErrLeaseLost. The end of the acquire's context does not end
// it. It keeps the lease from being forgotten. Of a nil lease it has ended.
func (l *Lease) Context() context.Context { return l.deref().context() }

// Bind returns a context that ends with parent or with the lease, whichever
// is first. It has the values of parent. The returned function frees what the
// binding takes, and until then the lease is not taken for forgotten; call it
// in any case.
func (l *Lease) Bind(parent context.Context) (context.Context, context.CancelFunc) {
	return l.deref().bind(parent)
}

// Done returns a channel that is closed when the lease ends; nothing is ever
// sent on it. After a pause of the process it may be closed a little later
// than Held turns false.
func (l *Lease) Done() <-chan struct{} { return l.deref().ended() }

// Endangered returns a channel that is closed when renewing first fails, or
// when the lease ends.
func (l *Lease) Endangered() <-chan struct{} { return l.deref().alarm() }

// Err returns nil while the lease is owned, and afterwards ErrReleased, or an
// error with ErrLeaseLost and the cause. It looks at the clock.
func (l *Lease) Err() error { return l.deref().err() }

// Held reports whether the lease is owned. It compares the clock with the end
// of the safe window itself: no timer and no message is needed for it to turn
// false. Once false it stays false.
func (l *Lease) Held() bool { return l.deref().err() == nil }

// State returns where in its life the lease is. It looks at the clock.
func (l *Lease) State() State { return l.deref().state() }

// Remaining returns how much is left of the safe window, if nothing is
// renewed any more: from 0 to 0.9 times the TTL.
func (l *Lease) Remaining() time.Duration { return l.deref().remaining() }

// Ensure waits until at least d remain of the safe window, and renews if that
// is needed: one log entry then, or more if a round takes longer than d leaves
// of the window; none otherwise. On success the lease was owned with at least
// d remaining when Ensure returned. On failure nothing has changed:
// ErrLeaseLost or ErrReleased if the lease has ended, ErrInvalid if d can never
// remain, ErrUnavailable with the context's error if ctx ends first.
func (l *Lease) Ensure(ctx context.Context, d time.Duration) error {
	return l.deref().ensure(ctx, d)
}

// Release gives the lease up. First the ownership ends here (Held is false,
// Done is closed), then the group is told, in one log entry; the key goes on
// to the next in line with it. ctx bounds the wait for the confirmation and
// nothing else. When ctx ends first, its error is returned with Outcome Unknown
// and the release goes on in the background. While the group does not answer,
// Release waits for as long as ctx lasts: with context.Background until it
// answers again. The lease's own Context is accepted; with it Release waits for
// T at most, and is not cut short by the end of the lease.
//
// A second Release returns nil once the first is confirmed. Release of a lost
// lease returns ErrLeaseLost at once: the exclusive time was over before.
// A Release never touches a lease of somebody else.
func (l *Lease) Release(ctx context.Context) error { return l.deref().release(ctx) }

// ReleaseAsync gives the lease up as Release does, and waits for nothing: on
// return the ownership has ended here and the group is being told, in one log
// entry. It goes on until the group confirms it, or until the node is no longer
// heard from; State says Released then. It returns nil also when Release or
// ReleaseAsync came before, and ErrLeaseLost if the lease was lost.
//
// What this node asks of the same key afterwards comes behind it: Acquire waits
// in line, and TryAcquire does not find the key held by what was given up. Other
// nodes learn of it when the group has it. Use Release where the next step of
// the program, in another process too, relies on the key being free.
func (l *Lease) ReleaseAsync() error { return l.deref().releaseAsync() }
