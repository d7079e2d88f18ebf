package token

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Guard protects resources that live in this process: for each it keeps the
// greatest token accepted and refuses lower ones. The zero value is ready for
// use. A Guard must not be copied after first use. All methods are safe for
// concurrent use.
//
// A guard belongs to one lock key, or to several resources that are each
// protected by their own lock key: tokens of different lock keys do not
// compare, so two lock keys must never present their tokens for one resource.
//
// It keeps one small entry for each resource that was ever accepted, for as
// long as it lives. There is no way to forget one: after that the guard would
// accept any paused writer. Drop the guard together with its resources.
type Guard struct {
	mu     sync.Mutex
	fences map[string]*fence // entries are added, never removed
}

// fence is what a guard keeps of one resource.
type fence struct {
	// mu is held over a check, and from the check to the end of the write
	// that Do runs. That makes them one step.
	mu sync.Mutex
	// highest is the greatest token accepted. It is written with mu held and
	// read without, so that Highest does not wait for a write.
	// Invariant: it only rises.
	highest atomic.Uint64
}

// NewGuard returns a guard that has accepted nothing yet.
func NewGuard() *Guard { return new(Guard) }

// Accept returns nil if t is at least the greatest token accepted for resource
// so far, and keeps t as the greatest. It waits while a Do or DoOnce runs for
// the resource.
//
// On error the guard is unchanged: *StaleError (ErrStale) for a lower token,
// ErrInvalid for zero, for a value that is not a token, and for an empty
// resource.
//
// Accept does not cover the write that follows it. Between the two a greater
// token may be accepted and its write done, which the late one then
// overwrites. Use it only where the resource itself can't mix up the order,
// and Do otherwise.
func (g *Guard) Accept(resource string, t Token) error {
	return g.run(resource, t, atLeast, func() error { return nil })
}

// AcceptOnce is Accept for leases that allow one write each: it refuses a
// token that equals the greatest accepted as well.
func (g *Guard) AcceptOnce(resource string, t Token) error {
	return g.run(resource, t, greater, func() error { return nil })
}

// Do accepts t like Accept and runs write before anything else is accepted for
// the resource, so that check and write are one step. It returns write's
// error, or Accept's, in which case write was not called. A nil write is
// refused with ErrInvalid.
//
// Do waits while another Do or DoOnce runs for the same resource, and checks
// after the wait; other resources don't wait for each other. write must not
// call the guard's Accept, AcceptOnce, Do or DoOnce for the same resource: it
// would wait for itself.
//
// The token is kept before write runs and stays kept when write fails, panics
// or leaves by runtime.Goexit. If it were kept only after success, this could
// happen:
//
//	writer 5: write changes half of the resource, then fails
//	writer 4: wakes from a pause, is accepted, overwrites the work of 5
//
// The owner of the same lease may try again, since an equal token is accepted.
func (g *Guard) Do(resource string, t Token, write func() error) error {
	return g.run(resource, t, atLeast, write)
}

// DoOnce is Do for leases that allow one write each: it refuses a token that
// equals the greatest accepted as well. A write that failed has used up its
// token.
func (g *Guard) DoOnce(resource string, t Token, write func() error) error {
	return g.run(resource, t, greater, write)
}

// Highest returns the greatest token accepted for resource, zero if none was.
// It never waits for a write; the token it returns may belong to a write that
// still runs, or has failed.
func (g *Guard) Highest(resource string) Token {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.fences[resource]; f != nil {
		return Token(f.highest.Load())
	}
	return 0
}

// A rule says whether a valid token may follow the greatest accepted before.
type rule func(given, highest Token) bool

func atLeast(given, highest Token) bool { return given >= highest }
func greater(given, highest Token) bool { return given > highest }

// run checks the arguments, then does check, raise and write as one step.
func (g *Guard) run(resource string, t Token, allowed rule, write func() error) error {
	if resource == "" {
		return fmt.Errorf("%w: the resource has no name", ErrInvalid)
	}
	if err := t.check(); err != nil {
		return fmt.Errorf("%w (for resource %s)", err, clip(resource))
	}
	if write == nil {
		return fmt.Errorf("%w: nil write for resource %s", ErrInvalid, clip(resource))
	}
	f := g.fence(resource)
	f.mu.Lock()
	defer f.mu.Unlock() // by panic and Goexit of write too
	highest := Token(f.highest.Load())
	if !allowed(t, highest) {
		return &StaleError{Resource: resource, Given: t, Highest: highest}
	}
	f.highest.Store(uint64(t))
	return write()
}

// fence returns the entry of a resource and makes it at first use. A first
// valid token is always accepted, so refusals make no entries.
func (g *Guard) fence(resource string) *fence {
	g.mu.Lock()
	defer g.mu.Unlock()
	f := g.fences[resource]
	if f == nil {
		if g.fences == nil {
			g.fences = make(map[string]*fence)
		}
		f = new(fence)
		g.fences[resource] = f
	}
	return f
}
