package statemachine

import (
	"cmp"
	"iter"
	"slices"
	"time"
)

// Presence returns what the group knows of the node, false when it is no
// member. A member that has not announced itself has Incarnation 0.
func (m *Machine) Presence(node NodeID) (Presence, bool) {
	p := m.member(node)
	if p == nil {
		return Presence{}, false
	}
	return p.presence, true
}

// Presences returns the presences of all members, by node.
func (m *Machine) Presences() []Presence {
	presences := make([]Presence, 0, len(m.members))
	for _, p := range m.members {
		presences = append(presences, p.presence)
	}
	return presences
}

// Key returns a copy of what the group knows of the key, false when it is
// free. It costs O(waiters).
func (m *Machine) Key(name string) (KeyView, bool) {
	front, taken := m.keys.get(name)
	if !taken {
		return KeyView{}, false
	}
	v := KeyView{Key: front.name}
	if front.isHeld() {
		lease := front.request.lease()
		v.Holder = &lease
	}
	if front.waiters > 0 {
		v.Waiters = make([]Wait, 0, front.waiters)
	}
	for s := front.head(); s != nil; s = s.next {
		v.Waiters = append(v.Waiters, s.request.wait())
	}
	return v, true
}

// Holder returns what is shown of the lease on the key, false when nobody holds
// it. It costs the same whatever the length of the queue.
func (m *Machine) Holder(name string) (Holder, bool) {
	front, taken := m.keys.get(name)
	if !taken || !front.isHeld() {
		return Holder{}, false
	}
	return front.holder(), true
}

// Lease returns the lease, false when there is none.
func (m *Machine) Lease(id LeaseID) (Lease, bool) {
	r := m.find(id)
	if r == nil || r.phase != held {
		return Lease{}, false
	}
	return r.lease(), true
}

// Wait returns the request in line, false when there is none.
func (m *Machine) Wait(id LeaseID) (Wait, bool) {
	r := m.find(id)
	if r == nil || r.phase != waiting {
		return Wait{}, false
	}
	return r.wait(), true
}

// Position returns the place of a waiting request in that queue of its keys in
// which most are ahead of it: 1 is the head. It is false when the request does
// not wait. It costs O(requests ahead).
func (m *Machine) Position(id LeaseID) (int, bool) {
	r := m.find(id)
	if r == nil || r.phase != waiting {
		return 0, false
	}
	longest := 0
	claims := r.claims()
	for i := range claims {
		s, n := &claims[i], 1
		for ; !s.isFront(); s = s.prev {
			n++
		}
		if s.isHeld() {
			n--
		}
		longest = max(longest, n)
	}
	return longest, true
}

// Owned returns what an incarnation of the node has, each by seq. It costs
// O(requests × log requests).
func (m *Machine) Owned(node NodeID, incarnation Incarnation) ([]Lease, []Wait) {
	p := m.member(node)
	if p == nil {
		return nil, nil
	}
	o := p.owner(incarnation)
	if o == nil {
		return nil, nil
	}
	var leases []Lease
	var waits []Wait
	for _, r := range o.bySeq() {
		if r.phase == held {
			leases = append(leases, r.lease())
		} else {
			waits = append(waits, r.wait())
		}
	}
	return leases, waits
}

// LimitedLeases returns the leases that have a limit, by Place. The machine
// must not change meanwhile. It costs O(all requests).
func (m *Machine) LimitedLeases() iter.Seq[Lease] {
	return func(yield func(Lease) bool) {
		var limited []*request
		for _, o := range m.owners() {
			for r := range o.all() {
				if r.phase == held && r.told().limit > 0 {
					limited = append(limited, r)
				}
			}
		}
		slices.SortFunc(limited, byPlace)
		for _, r := range limited {
			if !yield(r.lease()) {
				return
			}
		}
	}
}

// TTLs returns the distinct TTLs of the requests of the node's present
// incarnation, rising. It costs O(result).
func (m *Machine) TTLs(node NodeID) []time.Duration {
	p := m.member(node)
	if p == nil || len(p.present.buckets) == 0 {
		return nil
	}
	ttls := make([]time.Duration, 0, len(p.present.buckets))
	for _, b := range p.present.buckets {
		ttls = append(ttls, b.ttl)
	}
	return ttls
}

// Leftovers returns how many requests a Sweep of the node would end, if it
// were not bounded by SliceMax.
func (m *Machine) Leftovers(node NodeID) int {
	p := m.member(node)
	if p == nil {
		return 0
	}
	n := 0
	for _, o := range p.leftovers() {
		n += o.requests.size()
	}
	return n
}

// Stats counts what a machine has.
type Stats struct {
	Leases, Waits int
	Keys          int // held or waited for
	LongestQueue  int // waiters of the key that has most
}

// Stats returns the counts. It costs the same whatever the machine has.
func (m *Machine) Stats() Stats {
	return Stats{Leases: m.leases, Waits: m.waits, Keys: m.keys.size(), LongestQueue: m.lengths.longest}
}

// Records returns the whole image in the order of keys. The machine must not
// change meanwhile; key and value belong to the caller. It costs
// O(requests × log requests).
func (m *Machine) Records() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		// A writer of its own for each: the records of a whole machine are not
		// wanted in one piece.
		say := func(write func(*recordWriter) Record) bool {
			rw := newRecordWriter(128)
			defer rw.close()
			r := write(rw)
			return yield(r.Key, r.Value)
		}
		if !say(func(rw *recordWriter) Record { return rw.meta(metaValue{m.meta, m.group}) }) {
			return
		}
		for _, p := range m.members {
			if !say(func(rw *recordWriter) Record { return rw.presence(p.presence) }) {
				return
			}
		}
		for _, ph := range []phase{held, waiting} { // in the order of the kinds
			for _, o := range m.owners() {
				for _, r := range o.bySeq() {
					if r.phase == ph && !say(func(rw *recordWriter) Record { return rw.request(r) }) {
						return
					}
				}
			}
		}
	}
}

// owners returns all owners, by node and incarnation.
func (m *Machine) owners() []*owner {
	var owners []*owner
	for _, p := range m.members {
		owners = append(append(owners, p.older...), p.present)
	}
	return owners
}

// all returns the owner's requests by TTL and Place.
func (o *owner) all() iter.Seq[*request] {
	return func(yield func(*request) bool) {
		for _, b := range o.buckets {
			for r := b.head; r != nil; r = r.next {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// bySeq returns the owner's requests by seq.
func (o *owner) bySeq() []*request {
	requests := make([]*request, 0, o.requests.size())
	requests = slices.AppendSeq(requests, o.all())
	slices.SortFunc(requests, func(a, b *request) int { return cmp.Compare(a.seq, b.seq) })
	return requests
}

// sortedKeys returns the fronts of all lines, by the name of the key.
func (m *Machine) sortedKeys() []*stand {
	fronts := make([]*stand, 0, m.keys.size())
	for _, front := range m.keys.entries {
		fronts = append(fronts, front)
	}
	slices.SortFunc(fronts, func(a, b *stand) int { return cmp.Compare(a.name, b.name) })
	return fronts
}
