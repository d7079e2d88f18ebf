package statemachine

import (
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/token"
)

// Check returns an error that names the first invariant of the package comment
// that does not hold, nil when all hold. It costs O(state × log state).
func (m *Machine) Check() error { return m.check(false) }

// check is Check. When the machine is fresh, its tables have just been filled from
// the links between things: then the links are checked, and not looked up once
// more, which costs as much as all the rest.
func (m *Machine) check(fresh bool) error {
	c := checker{m: m, fresh: fresh, lengths: make(map[int]int)}
	for _, check := range []func() error{c.members, c.tokensAndPlaces, c.keys, c.counts, c.tracking} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checker recounts a machine.
type checker struct {
	m             *Machine
	fresh         bool
	requests      []*request
	fronts        []*stand // of the lines, those that a request has
	asked         Acquire  // for one request after the other
	leases, waits int
	leaseClaims   int         // of leases
	waitClaims    int         // of waits
	lengths       map[int]int // keys by length of their queue
}

// knows says whether the owner finds r under its seq.
func (o *owner) knows(r *request) bool {
	found, _ := o.requests.get(r.seq)
	return found == r
}

// knows says whether the machine finds a front under its key.
func (m *Machine) knows(front *stand) bool {
	found, _ := m.keys.get(front.name)
	return found == front
}

func violated(invariant int, format string, args ...any) error {
	return fmt.Errorf("statemachine: invariant %d: %s", invariant, fmt.Sprintf(format, args...))
}

// members checks what hangs on each member.
func (c *checker) members() error {
	for i, p := range c.m.members {
		node := p.presence.Node
		if node == 0 || i > 0 && c.m.members[i-1].presence.Node >= node {
			return violated(6, "node %d is out of order", node)
		}
		if p.present.incarnation != p.presence.Incarnation {
			return violated(6, "node %d: present incarnation %d, presence says %d",
				node, p.present.incarnation, p.presence.Incarnation)
		}
		below := Incarnation(0)
		for _, o := range append(slices.Clone(p.older), p.present) {
			if o != p.present && (o.incarnation <= below || o.incarnation >= p.presence.Incarnation) {
				return violated(6, "node %d: incarnation %d is out of order", node, o.incarnation)
			}
			below = o.incarnation
			if o != p.present && o.requests.size() == 0 {
				return violated(5, "node %d: incarnation %d has nothing and is remembered", node, o.incarnation)
			}
			if err := c.owner(p, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) owner(p *member, o *owner) error {
	if o.member != p || o.incarnation == 0 && o.requests.size() > 0 {
		return violated(6, "requests of node %d belong to no announced presence", p.presence.Node)
	}
	n := 0
	for i, b := range o.buckets {
		if b.owner != o || b.head == nil || i > 0 && o.buckets[i-1].ttl >= b.ttl {
			return violated(9, "node %d: bucket of TTL %v is empty or out of order", p.presence.Node, b.ttl)
		}
		var before *request
		for r := b.head; r != nil; before, r = r, r.next {
			n++
			if r.bucket != b || r.prev != before || !c.fresh && !o.knows(r) {
				return violated(9, "request %v is linked wrongly", r.id())
			}
			if before != nil && before.place >= r.place {
				return violated(9, "request %v stands behind a younger one in its bucket", r.id())
			}
			if err := c.request(p, r); err != nil {
				return err
			}
		}
		if b.tail != before {
			return violated(9, "node %d: bucket of TTL %v has the wrong tail", p.presence.Node, b.ttl)
		}
	}
	if n != o.requests.size() {
		return violated(8, "incarnation %d of node %d has %d requests, counted %d",
			o.incarnation, p.presence.Node, o.requests.size(), n)
	}
	return nil
}

func (c *checker) request(p *member, r *request) error {
	c.requests = append(c.requests, r)
	if !c.wellFormed(r) {
		return violated(10, "request %v breaks the bounds", r.id())
	}
	switch r.phase {
	case held:
		c.leases++
		c.leaseClaims += len(r.claims())
		if r.last > p.presence.Last && r.bucket.owner == p.present {
			return violated(6, "lease %v remembers batch %d, the presence batch %d", r.id(), r.last, p.presence.Last)
		}
	case waiting:
		c.waits++
		c.waitClaims += len(r.claims())
		if r.token != 0 || r.last != 0 {
			return violated(7, "wait %v has token %d", r.id(), uint64(r.token))
		}
	default:
		return violated(5, "request %v is over and remembered", r.id())
	}
	return c.claims(r)
}

// wellFormed says whether a request obeys the bounds of the command that asked
// for it.
func (c *checker) wellFormed(r *request) bool {
	t := r.told()
	claims := c.asked.Claims[:0]
	for _, s := range r.claims() {
		claims = append(claims, Claim{Key: s.name, Mode: s.mode})
	}
	c.asked = Acquire{
		Seq: r.seq, Claims: claims, TTL: r.ttl(), Limit: t.limit, RequestID: t.requestID, Metadata: t.metadata,
	}
	return c.asked.wellFormed()
}

// claims checks the claims of a request. That every claim stands in its line is
// seen by keys, which counts them.
func (c *checker) claims(r *request) error {
	turns := 0
	claims := r.claims()
	for i := range claims {
		s := &claims[i]
		if s.request != r || s.prev == nil {
			return violated(4, "request %v: claim of key %q is linked wrongly", r.id(), s.name)
		}
		switch front := s.isFront(); {
		case r.phase == held && !front:
			return violated(1, "lease %v is not the holder of key %q", r.id(), s.name)
		case front:
			c.fronts = append(c.fronts, s)
			if r.phase == waiting {
				turns++
			}
		}
	}
	if turns != int(r.turns) {
		return violated(8, "request %v has its turn on %d keys, counted %d", r.id(), r.turns, turns)
	}
	if r.phase == waiting && turns == len(claims) && !c.m.exhausted() {
		return violated(3, "request %v waits, and nothing is in its way", r.id())
	}
	return nil
}

// tokensAndPlaces checks that both are unique and not above the last given.
func (c *checker) tokensAndPlaces() error {
	slices.SortFunc(c.requests, byPlace)
	for i, r := range c.requests {
		if r.place == 0 || r.place > c.m.meta.Place || i > 0 && c.requests[i-1].place == r.place {
			return violated(9, "request %v has place %d, which was not given or given twice", r.id(), r.place)
		}
	}
	tokens := make([]token.Token, 0, c.leases)
	for _, r := range c.requests {
		if r.phase != held {
			continue
		}
		if r.token.Epoch() != c.m.meta.Epoch || !r.token.Valid() || r.token.Counter() > c.m.meta.Counter {
			return violated(7, "lease %v has token %d, which was not issued", r.id(), uint64(r.token))
		}
		tokens = append(tokens, r.token)
	}
	slices.Sort(tokens)
	for i, t := range tokens {
		if i > 0 && tokens[i-1] == t {
			return violated(7, "token %d was issued twice", uint64(t))
		}
	}
	return nil
}

// keys checks every line.
func (c *checker) keys() error {
	if n := c.m.keys.size(); n != len(c.fronts) {
		return violated(5, "%d keys are remembered, and requests stand at the front of %d lines", n, len(c.fronts))
	}
	places := 0
	for _, front := range c.fronts {
		if !c.fresh && !c.m.knows(front) {
			return violated(1, "key %q is not that of %v, which stands at its front", front.name, front.request.id())
		}
		n, waiters := 0, int32(0)
		last := front
		for s := front; s != nil; last, s = s, s.next {
			n++
			r := s.request
			if !s.isHeld() {
				waiters++
			}
			if s == front {
				continue // its request was found, with this claim
			}
			if s.name != front.name || s.prev != last || r.phase != waiting || c.m.find(r.id()) != r {
				return violated(4, "key %q has %v in line, which does not wait for it", front.name, r.id())
			}
			if last.request.place >= r.place {
				return violated(2, "key %q: %v stands behind %v, which came later", front.name, r.id(), last.request.id())
			}
		}
		if front.prev != last {
			return violated(4, "key %q has the wrong tail", front.name)
		}
		if waiters != front.waiters {
			return violated(8, "key %q has %d waiters, counted %d", front.name, front.waiters, waiters)
		}
		places += n
		c.lengths[int(waiters)]++
	}
	// Places in one line differ, and each was found to belong to its claim:
	// equal numbers mean that every claim has its place.
	if claims := c.leaseClaims + c.waitClaims; places != claims {
		return violated(4, "there are %d claims, and %d places in line", claims, places)
	}
	return nil
}

func (c *checker) counts() error {
	m := c.m
	if m.leases != c.leases || m.waits != c.waits {
		return violated(8, "%d leases and %d waits, counted %d and %d", m.leases, m.waits, c.leases, c.waits)
	}
	longest := 0
	for n := range c.lengths { // the greatest is the same in any order
		longest = max(longest, n)
	}
	if m.lengths.longest != longest {
		return violated(8, "longest queue %d, counted %d", m.lengths.longest, longest)
	}
	for n, keys := range m.lengths.keys {
		if n > 0 && keys != c.lengths[n] {
			return violated(8, "%d keys with %d waiters, counted %d", keys, n, c.lengths[n])
		}
	}
	if len(m.ready) != 0 {
		return violated(3, "%d requests are ready and were not woken", len(m.ready))
	}
	return nil
}

// tracking checks that what differs from the image is noted.
func (c *checker) tracking() error {
	for _, r := range c.requests {
		if r.stored != r.kind() && r.change == 0 {
			return violated(11, "request %v has changed and is not noted", r.id())
		}
	}
	for i, r := range c.m.changes.requests {
		if int(r.change) != i+1 || r.phase == over && r.stored == 0 {
			return violated(11, "request %v is noted wrongly", r.id())
		}
	}
	return nil
}
