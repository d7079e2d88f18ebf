package statemachine

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Load returns the machine whose image the records are, in any order. An image
// is whole in itself: of g only the group matters, which must be that of the
// image. Without any record Load is New. The records' bytes are not kept.
//
// The errors name the record or the rule. One wraps ErrNewer when the image
// needs a newer binary, whatever else is wrong with it; otherwise it wraps
// ErrMalformed: the bytes are of no known format, or what they say breaks an
// invariant. It costs O(image × log of its requests).
func Load(g Genesis, records iter.Seq2[[]byte, []byte]) (*Machine, error) {
	l := loader{
		m:         &Machine{group: g.Group},
		presences: make(map[NodeID]Presence),
		owners:    make(map[ownerID]*owner),
		counts:    make(map[ownerID]int),
	}
	var first error
	any := false
	d := newRecordDecoder()
	defer d.close()
	for key, value := range records {
		any = true
		err := l.take(d, key, value)
		if errors.Is(err, ErrNewer) {
			return nil, err
		}
		// A newer image may well have records that look wrong: go on
		// until its meta has said what it is.
		if first == nil {
			first = err
		}
	}
	switch {
	case !any:
		return New(g), nil
	case first != nil:
		return nil, first
	case !l.meta:
		return nil, fmt.Errorf("%w: image without meta", ErrMalformed)
	}
	if err := l.link(); err != nil {
		return nil, err
	}
	if err := l.m.check(true); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return l.m, nil
}

// loader gathers records until all are there and can be linked. Only then it is
// known how large the tables have to be.
type loader struct {
	m         *Machine
	meta      bool
	presences map[NodeID]Presence
	owners    map[ownerID]*owner
	counts    map[ownerID]int // of requests
	requests  []*request      // in their buckets, which do not know them yet
	leased    int             // claims of leases: at least so many keys there are
}

type ownerID struct {
	node        NodeID
	incarnation Incarnation
}

// take adds one record. The errors name it.
func (l *loader) take(d *recordDecoder, key, value []byte) error {
	rec, err := d.decode(key, value)
	if err == nil {
		switch rec.kind {
		case recordMeta:
			err = l.takeMeta(rec.meta)
		case recordPresence:
			err = l.takePresence(rec.presence)
		case recordLease:
			err = l.takeRequest(&rec.lease, held, recordLease)
		default: // recordWait: the decoder knows no other
			err = l.takeRequest(&rec.lease, waiting, recordWait)
		}
	}
	if err != nil {
		return fmt.Errorf("record %x: %w", key, err)
	}
	return nil
}

func (l *loader) takeMeta(v metaValue) error {
	if l.meta {
		return fmt.Errorf("%w: a second meta", ErrMalformed)
	}
	if v.group != l.m.group {
		return fmt.Errorf("%w: image of group %d, expected group %d", ErrMalformed, v.group, l.m.group)
	}
	l.meta = true
	l.m.meta = v.Meta
	return nil
}

func (l *loader) takePresence(p Presence) error {
	if _, twice := l.presences[p.Node]; twice {
		return fmt.Errorf("%w: a second presence of node %d", ErrMalformed, p.Node)
	}
	l.presences[p.Node] = p
	return nil
}

// takeRequest makes a request of a lease, or of what a wait has in common with
// one.
func (l *loader) takeRequest(asked *Lease, ph phase, stored recordKind) error {
	if len(asked.Claims) == 0 {
		return fmt.Errorf("%w: %w", ErrMalformed, violated(10, "request %v has no claim", asked.ID))
	}
	id := ownerID{asked.ID.Node, asked.ID.Incarnation}
	o, ok := l.owners[id]
	if !ok {
		o = &owner{incarnation: id.incarnation}
		l.owners[id] = o
	}
	r := newRequest(len(asked.Claims), texts{asked.Limit, asked.RequestID, asked.Metadata})
	r.bucket = o.bucket(asked.TTL)
	r.phase, r.stored = ph, stored
	r.seq = asked.ID.Seq
	r.token, r.last = asked.Token, asked.Last
	r.place = asked.Place
	r.since = asked.Since
	for i, c := range asked.Claims {
		r.claims()[i] = stand{request: r, name: c.Key, mode: c.Mode}
	}
	l.counts[id]++
	if ph == held {
		l.leased += len(asked.Claims)
	}
	l.requests = append(l.requests, r)
	return nil
}

// link makes the members, and gives every request to its owner and its keys in
// the order of Place, as they came.
func (l *loader) link() error {
	for _, p := range l.presences {
		m, _ := l.m.enroll(p.Node)
		m.presence = p
		m.present.incarnation = p.Incarnation
	}
	if err := l.linkOwners(); err != nil {
		return err
	}
	slices.SortFunc(l.requests, byPlace)
	l.m.keys.reserve(l.leased)
	for _, r := range l.requests {
		o := r.bucket.owner
		if _, twice := o.requests.get(r.seq); twice {
			return fmt.Errorf("%w: node %d has two requests with seq %d", ErrMalformed, o.member.presence.Node, r.seq)
		}
		o.link(r)
		if err := l.linkClaims(r); err != nil {
			return err
		}
	}
	// Whoever is ready in the image was left in line by a token counter that
	// had come to its end; Check finds anybody else.
	l.m.ready = nil
	return nil
}

// linkOwners hangs the owners to their members. Those of one member are in the
// order of incarnations.
func (l *loader) linkOwners() error {
	ids := make([]ownerID, 0, len(l.owners))
	for id := range l.owners {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b ownerID) int {
		if a.node != b.node {
			return cmp.Compare(a.node, b.node)
		}
		return cmp.Compare(a.incarnation, b.incarnation)
	})
	for _, id := range ids {
		o := l.owners[id]
		p := l.m.member(id.node)
		switch {
		case p == nil:
			return fmt.Errorf("%w: requests of node %d, which has no presence", ErrMalformed, id.node)
		case id.incarnation > p.presence.Incarnation:
			return fmt.Errorf("%w: requests of incarnation %d of node %d, whose presence has %d",
				ErrMalformed, id.incarnation, id.node, p.presence.Incarnation)
		case id.incarnation == p.presence.Incarnation:
			p.present = o
		default:
			p.older = append(p.older, o)
		}
		o.member = p
		o.requests.reserve(l.counts[id])
	}
	return nil
}

func (l *loader) linkClaims(r *request) error {
	claims := r.claims()
	for i := range claims {
		s := &claims[i]
		switch front, taken := l.m.keys.get(s.name); {
		case taken && s.isHeld() && front.isHeld():
			return fmt.Errorf("%w: key %q has the leases %v and %v", ErrMalformed, s.name, front.request.id(), r.id())
		case taken && s.isHeld():
			return fmt.Errorf("%w: %w", ErrMalformed,
				violated(2, "key %q: lease %v stands behind %v, which waits", s.name, r.id(), front.request.id()))
		}
		l.m.join(s)
	}
	if r.phase == waiting {
		l.m.waits++
	} else {
		l.m.leases++
	}
	return nil
}
