package statemachine

// key is a key that is held or waited for. A key that is neither has none.
type key struct {
	name       string
	holder     *request // nil: not held
	head, tail *stand   // the queue, first come first
	length     int      // of the queue
}

// turn returns the request whose turn it is on the key: the first in line
// while the key is not held. A place reserves, so nobody else can have it.
func (k *key) turn() *request {
	if k.holder != nil || k.head == nil {
		return nil
	}
	return k.head.request
}

// turned accounts for a change of whose turn it is on a key. A request whose
// turn has come on all its keys is noted in m.ready. This is what makes every
// hand-over cost the same whatever the number of claims of those in line.
func (m *Machine) turned(before, after *request) {
	if before == after {
		return
	}
	if before != nil {
		before.turns--
	}
	if after != nil {
		after.turns++
		if int(after.turns) == len(after.claims) {
			m.ready = append(m.ready, after)
		}
	}
}

// obtain returns the key, which from here on has a holder or a waiter.
func (m *Machine) obtain(name string) *key {
	k, ok := m.keys.get(name)
	if !ok {
		k = &key{name: name}
		m.keys.put(name, k)
	}
	return k
}

// dispose forgets the key if nobody holds it or waits for it.
func (m *Machine) dispose(k *key) {
	if k.holder == nil && k.head == nil {
		m.keys.remove(k.name)
	}
}

func (m *Machine) hold(k *key, r *request) {
	if k.holder != nil {
		broken("key %q is held by %v and can't be given to %v", k.name, k.holder.id(), r.id())
	}
	before := k.turn()
	k.holder = r
	m.turned(before, k.turn())
}

func (m *Machine) unhold(k *key) {
	before := k.turn()
	k.holder = nil
	m.turned(before, k.turn())
}

func (m *Machine) enqueue(s *stand) {
	k := s.key
	before := k.turn()
	s.prev = k.tail
	if k.tail == nil {
		k.head = s
	} else {
		k.tail.next = s
	}
	k.tail = s
	m.lengths.move(k.length, k.length+1)
	k.length++
	m.turned(before, k.turn())
}

func (m *Machine) dequeue(s *stand) {
	k := s.key
	before := k.turn()
	if s.prev == nil {
		k.head = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		k.tail = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
	m.lengths.move(k.length, k.length-1)
	k.length--
	m.turned(before, k.turn())
}

// queueLengths counts the keys by the length of their queue, so that the
// longest is known without a search. Lengths change by one, so when the last
// key of the longest length goes, the next longest is one less.
type queueLengths struct {
	keys    []int // keys[n] have a queue of length n; keys[0] is not counted
	longest int
}

func (q *queueLengths) move(from, to int) {
	for len(q.keys) <= max(from, to) {
		q.keys = append(q.keys, 0)
	}
	if from > 0 {
		q.keys[from]--
	}
	if to > 0 {
		q.keys[to]++
	}
	q.longest = max(q.longest, to)
	if q.longest > 0 && q.keys[q.longest] == 0 {
		q.longest--
	}
	if q.longest == 0 && len(q.keys) > tableShrinkMin {
		q.keys = nil
	}
}
