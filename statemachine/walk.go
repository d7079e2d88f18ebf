package statemachine

import "iter"

// Glance is what a walk shows of a key.
type Glance struct {
	// Holder is who holds the key. Of a key that is not held, because it is
	// reserved by the first waiter, it has the key alone.
	Holder  Holder
	Held    bool
	Waiters int
	Queue   []Wait // the first of the waiters, in the order of service
}

// Glance returns what a walk shows of one key, false when it is free. Queue has
// queue waiters at most. It costs O(queue).
func (m *Machine) Glance(name string, queue int) (Glance, bool) {
	front, taken := m.keys.get(name)
	if !taken {
		return Glance{}, false
	}
	return front.glance(queue), true
}

// Walk goes over the keys that are held or waited for, in no order. Queue has
// queue waiters at most.
//
// Unlike all other iterators of a Machine it lets the machine change between one
// key and the next, though not while the next is looked for. A key that is taken
// all the time is shown once, and one that is free never. One that is freed and
// taken again meanwhile may be shown twice, or not at all.
func (m *Machine) Walk(queue int) iter.Seq[Glance] {
	return func(yield func(Glance) bool) {
		// The table may be rebuilt meanwhile, and then this goes over the one that
		// was left. It has all keys that have been taken ever since, and others.
		for name := range m.keys.entries {
			if g, taken := m.Glance(name, queue); taken && !yield(g) {
				return
			}
		}
	}
}

// glance describes the line of which s is the front.
func (s *stand) glance(queue int) Glance {
	g := Glance{Holder: Holder{Key: s.name}, Held: s.isHeld(), Waiters: int(s.waiters)}
	if g.Held {
		g.Holder = s.holder()
	}
	for w := s.head(); w != nil && len(g.Queue) < queue; w = w.next {
		g.Queue = append(g.Queue, w.request.wait())
	}
	return g
}
