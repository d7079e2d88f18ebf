package statemachine

import (
	"cmp"
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
// claim is one allocation of 144 bytes.
type request struct {
	bucket     *bucket
	prev, next *request // in the bucket, by Place
	claims     []stand
	texts      *texts // nil: none of them is set
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
	// turns == len(claims) is granted before the command ends, unless the
	// token counter has come to its end.
	turns uint8
}

// texts is what few requests have.
type texts struct {
	limit     time.Duration
	requestID string
	metadata  string
}

// stand is one claim of a request. While the request waits it is also its
// place in the key's queue.
type stand struct {
	request    *request
	key        *key
	prev, next *stand // in the queue; prev is ahead
	mode       Mode
}

// single is a request of one claim in one piece.
type single struct {
	request
	own [1]stand
}

func newRequest(claims int) *request {
	if claims == 1 {
		s := new(single)
		s.claims = s.own[:]
		return &s.request
	}
	return &request{claims: make([]stand, claims)}
}

func newTexts(limit time.Duration, requestID, metadata string) *texts {
	if limit == 0 && requestID == "" && metadata == "" {
		return nil
	}
	return &texts{limit: limit, requestID: requestID, metadata: metadata}
}

// told returns the texts, empty ones if there are none.
func (r *request) told() texts {
	if r.texts == nil {
		return texts{}
	}
	return *r.texts
}

func (r *request) id() LeaseID {
	o := r.bucket.owner
	return LeaseID{Node: o.member.presence.Node, Incarnation: o.incarnation, Seq: r.seq}
}

func (r *request) ttl() time.Duration { return r.bucket.ttl }

func (r *request) copyClaims() []Claim {
	claims := make([]Claim, len(r.claims))
	for i := range r.claims {
		claims[i] = Claim{Key: r.claims[i].key.name, Mode: r.claims[i].mode}
	}
	return claims
}

// lease returns the copy of a held request that others may see.
func (r *request) lease() Lease {
	t := r.told()
	return Lease{
		ID: r.id(), Claims: r.copyClaims(), Token: r.token, TTL: r.ttl(), Limit: t.limit, Last: r.last,
		Place: r.place, Since: r.since, RequestID: t.requestID, Metadata: t.metadata,
	}
}

// wait returns the copy of a waiting request that others may see.
func (r *request) wait() Wait {
	t := r.told()
	return Wait{
		ID: r.id(), Claims: r.copyClaims(), TTL: r.ttl(), Limit: t.limit,
		Place: r.place, Since: r.since, RequestID: t.requestID, Metadata: t.metadata,
	}
}

// holder returns what is shown of a held request to those that want key k.
func (r *request) holder(k *key) Holder {
	t := r.told()
	return Holder{
		Lease: r.id(), Key: k.name, Token: r.token, Since: r.since,
		RequestID: t.requestID, Metadata: t.metadata, TTL: r.ttl(),
	}
}

func byPlace(a, b *request) int { return cmp.Compare(a.place, b.place) }
