package statemachine

// stand is one claim of a request, and its place in the line of its key. The
// line is first who holds the key, if anybody does, and then those who wait for
// it, first come first. A key that is neither held nor waited for has none.
//
// The key has no object of its own: of a million leases hardly one is waited
// for. What there is to know of a line its front has: the first in it, which is
// what Machine.keys leads to.
type stand struct {
	request *request
	name    string // of the key
	next    *stand // behind; nil: this is the last
	prev    *stand // ahead; of the front: the last
	waiters int32  // of the front: how many of the line wait
	mode    Mode
}

// isFront says whether a stand is the first of its line.
func (s *stand) isFront() bool { return s.prev.next == nil }

// isHeld says whether a line, of which s is the front, has a holder.
func (s *stand) isHeld() bool { return s.request.phase == held }

// head returns the first that waits in the line of which s is the front, nil if
// none does.
func (s *stand) head() *stand {
	if s.isHeld() {
		return s.next
	}
	return s
}

// turn returns the request whose turn it is on the key: the first in line while
// the key is not held. A place reserves, so nobody else can have it. s is the
// front, nil of a free key.
func (s *stand) turn() *request {
	if s == nil || s.isHeld() {
		return nil
	}
	return s.request
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
		if int(after.turns) == len(after.claims()) {
			m.ready = append(m.ready, after)
		}
	}
}

// join puts s at the end of the line of its key. A request that has been granted
// begins the line.
func (m *Machine) join(s *stand) {
	front, taken := m.keys.get(s.name)
	switch {
	case !taken:
		front, s.prev = s, s
		m.keys.put(s.name, s)
	case s.isHeld():
		broken("key %q is held by %v and can't be given to %v", s.name, front.request.id(), s.request.id())
	default:
		s.name = front.name // one copy of the bytes for all
		last := front.prev
		last.next, s.prev, front.prev = s, last, s
	}
	if s.isHeld() {
		return
	}
	m.count(front, 1)
	if s == front {
		m.turned(nil, s.request)
	}
}

// hand gives the key to the first in line, whose request has just been granted.
func (m *Machine) hand(s *stand) {
	if !s.isFront() {
		broken("key %q can't be given to %v, which is not the first in line", s.name, s.request.id())
	}
	m.count(s, -1)
	m.turned(s.request, nil)
}

// part takes s out of the line of its key.
func (m *Machine) part(s *stand) {
	front, _ := m.keys.get(s.name)
	if !s.isHeld() {
		m.count(front, -1)
	}
	switch next := s.next; {
	case s != front:
		s.prev.next = next
		if next == nil {
			front.prev = s.prev
		} else {
			next.prev = s.prev
		}
	case next == nil:
		m.keys.remove(s.name)
		m.turned(s.turn(), nil)
	default:
		next.prev, next.waiters = s.prev, s.waiters
		m.keys.put(next.name, next)
		m.turned(s.turn(), next.turn())
	}
	s.prev, s.next, s.waiters = nil, nil, 0
}

// count changes the number of those who wait in the line of a front.
func (m *Machine) count(front *stand, by int32) {
	m.lengths.move(int(front.waiters), int(front.waiters+by))
	front.waiters += by
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
