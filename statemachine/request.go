package statemachine

import (
	"cmp"
	"slices"
	"time"

	"github.com/palisade-go/palisade/token"
)

// phase is where a request is in its life.
type phase uint8

const (
	waiting phase = iota // in line
	held                 // a lease
	over                 // ended; only a pending record deletion remembers it
)

// request is one request that waits or holds. There can be millions, so the
// layout is part of the design: what the bucket knows (owner, TTL) is not
// repeated, what few requests have is behind one pointer, and a request of one
// claim is one allocation of 128 bytes.
type request struct {
	bucket     *bucket
	prev, next *request // in the bucket, by Place
	rare       *rare    // nil: nothing of it
	seq        Seq
	token      token.Token // zero while waiting
	last       BatchNumber // zero while waiting
	place      uint64
	since      int64

	change int32 // position in changes.requests plus one; 0: unchanged
	phase  phase
	stored recordKind // of the record that the image has; 0: none
	// turns counts the claims for which it is this request's turn: their key
	// is not held and nobody is ahead. Invariant: a waiting request with
	// turns == len(claims()) is granted before the command ends, unless the
	// token counter has come to its end.
	turns uint8

	own [1]stand // the claim, if there is one only
}

// rare is what few requests have.
type rare struct {
	texts
	claims []stand // if there are several
}

// texts are what a request can do without.
type texts struct {
	limit     time.Duration
	requestID string
	metadata  string
}

// newRequest returns a request with room for its claims.
func newRequest(claims int, t texts) *request {
	r := new(request)
	if claims > 1 || t != (texts{}) {
		r.rare = &rare{texts: t}
	}
	if claims > 1 {
		r.rare.claims = make([]stand, claims)
	}
	return r
}

// claims returns the claims, sorted by key. They stay where they are for the
// life of the request.
func (r *request) claims() []stand {
	if r.rare != nil && r.rare.claims != nil {
		return r.rare.claims
	}
	return r.own[:]
}

// told returns the texts, empty ones if there are none.
func (r *request) told() texts {
	if r.rare == nil {
		return texts{}
	}
	return r.rare.texts
}

func (r *request) id() LeaseID {
	o := r.bucket.owner
	return LeaseID{Node: o.member.presence.Node, Incarnation: o.incarnation, Seq: r.seq}
}

func (r *request) ttl() time.Duration { return r.bucket.ttl }

// appendClaims appends a copy of the claims.
func (r *request) appendClaims(to []Claim) []Claim {
	stands := r.claims()
	to = slices.Grow(to, len(stands))
	for i := range stands {
		to = append(to, Claim{Key: stands[i].name, Mode: stands[i].mode})
	}
	return to
}

// lease returns the copy of a held request that others may see.
func (r *request) lease() Lease { return r.leaseOn(r.appendClaims(nil)) }

// leaseOn is lease with these claims. Of a waiting request it has no token.
func (r *request) leaseOn(claims []Claim) Lease {
	t := r.told()
	return Lease{
		ID: r.id(), Claims: claims, Token: r.token, TTL: r.ttl(), Limit: t.limit, Last: r.last,
		Place: r.place, Since: r.since, RequestID: t.requestID, Metadata: t.metadata,
	}
}

// wait returns the copy of a waiting request that others may see.
func (r *request) wait() Wait { return r.lease().wait() }

// holder returns what is shown of the holder of a key to those that want it.
func (s *stand) holder() Holder {
	r := s.request
	t := r.told()
	return Holder{
		Lease: r.id(), Key: s.name, Token: r.token, Since: r.since,
		RequestID: t.requestID, Metadata: t.metadata, TTL: r.ttl(),
	}
}

func byPlace(a, b *request) int { return cmp.Compare(a.place, b.place) }
