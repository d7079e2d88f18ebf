package statemachine

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
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
	}
	var first error
	any := false
	for key, value := range records {
		any = true
		err := l.take(key, value)
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
	if err := l.m.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return l.m, nil
}

// loader gathers records until all are there and can be linked.
type loader struct {
	m         *Machine
	meta      bool
	presences map[NodeID]Presence
	owners    map[ownerID]*owner
	requests  []loaded
}

type ownerID struct {
	node        NodeID
	incarnation Incarnation
}

// loaded is a request that its owner does not know yet.
type loaded struct {
	*request
	owner *owner
	ttl   time.Duration
}

// take adds one record. The errors name it.
func (l *loader) take(key, value []byte) error {
	rec, err := decodeRecord(key, value)
	if err == nil {
		switch rec := rec.(type) {
		case metaValue:
			err = l.takeMeta(rec)
		case Presence:
			err = l.takePresence(rec)
		case Lease:
			r := l.request(rec.wait())
			r.phase, r.stored = held, recordLease
			r.token, r.last = rec.Token, rec.Last
		case Wait:
			r := l.request(rec)
			r.phase, r.stored = waiting, recordWait
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

func (l *loader) request(w Wait) *request {
	id := ownerID{w.ID.Node, w.ID.Incarnation}
	o, ok := l.owners[id]
	if !ok {
		o = &owner{incarnation: id.incarnation}
		l.owners[id] = o
	}
	r := newRequest(len(w.Claims))
	r.seq = w.ID.Seq
	r.place = w.Place
	r.since = w.Since
	r.texts = newTexts(w.Limit, w.RequestID, w.Metadata)
	for i, c := range w.Claims {
		r.claims[i] = stand{request: r, key: l.m.obtain(c.Key), mode: c.Mode}
	}
	l.requests = append(l.requests, loaded{request: r, owner: o, ttl: w.TTL})
	return r
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
	slices.SortFunc(l.requests, func(a, b loaded) int { return byPlace(a.request, b.request) })
	for _, r := range l.requests {
		if _, twice := r.owner.requests.get(r.seq); twice {
			return fmt.Errorf("%w: node %d has two requests with seq %d", ErrMalformed, r.owner.member.presence.Node, r.seq)
		}
		r.owner.add(r.request, r.ttl)
		if err := l.linkClaims(r.request); err != nil {
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
	}
	return nil
}

func (l *loader) linkClaims(r *request) error {
	for i := range r.claims {
		s := &r.claims[i]
		switch {
		case r.phase == waiting:
			l.m.enqueue(s)
		case s.key.holder != nil:
			return fmt.Errorf("%w: key %q has the leases %v and %v", ErrMalformed, s.key.name, s.key.holder.id(), r.id())
		default:
			l.m.hold(s.key, r)
		}
	}
	if r.phase == waiting {
		l.m.waits++
	} else {
		l.m.leases++
	}
	return nil
}
