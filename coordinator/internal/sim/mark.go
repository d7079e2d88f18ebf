package sim

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// mark is a Mark that a client waits for: a question that has to see what the
// group has decided.
type mark struct {
	client *client
	after  statemachine.BatchNumber // the last that was sent before
}

// mark asks a group for a mark, and gives the wish up now and then.
func (c *client) mark() {
	c.round++
	s := c.n.replicas[c.random.IntN(len(c.n.replicas))].shell
	c.n.refs++
	ref := c.n.refs
	m := &mark{client: c}
	s.input(func(h *hub.Hub, now clock.Instant) {
		m.after = s.flights.highest
		s.marks[ref] = m
		h.Mark(ref, now)
	})
	if c.random.chance(20) {
		c.later(c.random.between(0, time.Second), func() {
			s.input(func(h *hub.Hub, _ clock.Instant) {
				if s.marks[ref] == m {
					delete(s.marks, ref)
					h.Unmark(ref)
					c.think()
				}
			})
		})
	}
}

// reached checks that a batch that was sent after the mark is in the log.
func (s *shell) reached(ref hub.Ref) {
	m := s.marks[ref]
	last := s.r.g.oracle.batches[s.n.id]
	if m == nil || last.Incarnation != s.n.incarnation || last.Number <= m.after {
		s.n.w.fail("mark", "node %d, group %d: mark %d is reached with %+v", s.n.id, s.r.g.id, ref, last)
		return
	}
	delete(s.marks, ref)
	s.n.w.count["marks reached"]++
	m.client.round++
	m.client.think()
}
