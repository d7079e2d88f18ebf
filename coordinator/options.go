package coordinator

import (
	"context"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// AcquireOption changes one acquire.
type AcquireOption func(*acquireOptions)

type acquireOptions struct {
	ttl       time.Duration
	wait      time.Duration
	waitSet   bool
	maxHold   time.Duration
	maxSet    bool
	metadata  string
	requestID string
	idSet     bool
}

// WithTTL sets the TTL of the lease: how long the group waits for its node
// before it lets others have the key. From 4 times Config.ElectionTimeout to
// 24 hours. Default: Config.TTL.
//
// The node renews by itself about every quarter of it. A short TTL frees the
// keys of the dead sooner; a long one survives longer pauses and outages.
func WithTTL(d time.Duration) AcquireOption { return func(o *acquireOptions) { o.ttl = d } }

// WithWait bounds the wait in line, and nothing else, to d > 0. When it is
// over the acquire fails with context.DeadlineExceeded, and as a rule with
// Outcome Unknown: the place in line is being given back. Default: the context
// alone bounds the wait.
func WithWait(d time.Duration) AcquireOption {
	return func(o *acquireOptions) { o.wait, o.waitSet = d, true }
}

// WithMaxHold ends the lease after d, however well it is renewed: the holder
// learns it after 0.9*d, the group gives the key on after d. At least 4
// times Config.ElectionTimeout. Default: no limit.
func WithMaxHold(d time.Duration) AcquireOption {
	return func(o *acquireOptions) { o.maxHold, o.maxSet = d, true }
}

// WithMetadata attaches a text of at most 1,024 bytes, or 1,022 if the first of
// them is zero, which BusyError and Inspect show to others. Never put a secret
// there: it is stored in the log of every node. Default: empty.
func WithMetadata(s string) AcquireOption { return func(o *acquireOptions) { o.metadata = s } }

// WithRequestID names the request, with 1 to 128 bytes. A second acquire of
// this node with the id of one that waits or holds joins it: both get the
// same lease, and a Release ends it for both. The keys, the TTL and the limit
// must be the same, otherwise ErrInvalid. Resolve asks what became of an id.
// Default: none.
func WithRequestID(id string) AcquireOption {
	return func(o *acquireOptions) { o.requestID, o.idSet = id, true }
}

// request is a checked acquire.
type request struct {
	op     string
	values context.Context // the caller's; its values are those of the lease's
	began  clock.Instant
	keys   []string // sorted, distinct
	try    bool
	ttl    time.Duration
	wait   time.Duration // 0: unbounded
	limit  time.Duration // 0: none
	id     string
	meta   string
	groups []groupClaims // by rising group
}

// groupClaims are the claims of a request that belong to one group.
type groupClaims struct {
	group  *group
	claims []statemachine.Claim
}

// sameAs reports whether two requests under one id ask for the same.
func (r *request) sameAs(o *request) bool {
	if len(r.keys) != len(o.keys) || r.ttl != o.ttl || r.limit != o.limit {
		return false
	}
	for i := range r.keys {
		if r.keys[i] != o.keys[i] {
			return false
		}
	}
	return true
}
