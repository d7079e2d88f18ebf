package coordinator

import (
	"context"
	"slices"
	"time"

	"github.com/palisade-go/palisade/token"
)

// LeaseSet is the ownership of several keys, which the caller got all or
// none of. It ends as a whole: the loss of one part closes Done; what is not
// lost stays held until Release, so that nobody enters while the caller
// unwinds. Its methods are those of Lease and behave alike; a nil set is
// lost.
//
// A set that was forgotten while it is held is released and logged as a Lease
// is. What is left of a set that was lost is given back, without a word, when
// the set is forgotten, whatever channels of it were handed out.
type LeaseSet struct{ handle *handle }

func (s *LeaseSet) deref() *handle {
	if s == nil {
		return nil
	}
	return s.handle
}

// Keys returns the keys, sorted and without repetition.
func (s *LeaseSet) Keys() []string {
	if o := s.deref().owned(); o != nil {
		return slices.Clone(o.keys)
	}
	return nil
}

// Token returns the fencing token for a key; false if the key is not of the
// set. Keys of one group share a token. Tokens of different groups don't
// compare: give each resource the token of its own key.
func (s *LeaseSet) Token(key string) (token.Token, bool) {
	if o := s.deref().owned(); o != nil {
		return o.token(key)
	}
	return 0, false
}

// Context is as Lease.Context, for the whole set.
func (s *LeaseSet) Context() context.Context { return s.deref().context() }

// Bind is as Lease.Bind, for the whole set.
func (s *LeaseSet) Bind(parent context.Context) (context.Context, context.CancelFunc) {
	return s.deref().bind(parent)
}

// Done returns a channel that is closed when the first part ends.
func (s *LeaseSet) Done() <-chan struct{} { return s.deref().ended() }

// Endangered returns a channel that is closed when renewing first fails for
// any part, or when the set ends.
func (s *LeaseSet) Endangered() <-chan struct{} { return s.deref().alarm() }

// Err is as Lease.Err, for the whole set.
func (s *LeaseSet) Err() error { return s.deref().err() }

// Held reports whether all keys are owned; see Lease.Held.
func (s *LeaseSet) Held() bool { return s.deref().err() == nil }

// State is as Lease.State, for the whole set.
func (s *LeaseSet) State() State { return s.deref().state() }

// Remaining returns the shortest safe window left of all parts.
func (s *LeaseSet) Remaining() time.Duration { return s.deref().remaining() }

// Ensure is as Lease.Ensure, for the whole set: one log entry for each group
// if a renewal is needed.
func (s *LeaseSet) Ensure(ctx context.Context, d time.Duration) error {
	return s.deref().ensure(ctx, d)
}

// Release is as Lease.Release, for the whole set: one log entry for each
// group. After a loss it gives back what is still held and returns
// ErrLeaseLost at once.
func (s *LeaseSet) Release(ctx context.Context) error { return s.deref().release(ctx) }

// ReleaseAsync is as Lease.ReleaseAsync, for the whole set. After a loss it gives
// back what is still held and returns ErrLeaseLost.
func (s *LeaseSet) ReleaseAsync() error { return s.deref().releaseAsync() }
