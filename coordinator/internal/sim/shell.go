package sim

import (
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// shell is what stands around a node's hub of a group: the mailbox, the timer,
// and the calls of the program.
type shell struct {
	r   *replica
	n   *node
	hub *hub.Hub

	mail  []func(*hub.Hub, clock.Instant)
	ticks int // tells a planned tick that was replaced
	calls map[hub.Ref]*call
	bySeq map[statemachine.Seq]*call
	marks map[hub.Ref]*mark
	// failing: the hub said that renewing fails.
	failing bool

	heard    clock.Instant // what the hub's HeardAt said last
	hasHeard bool
	flights  flights
}

func newShell(r *replica) *shell {
	n := r.n
	s := &shell{
		r: r, n: n,
		calls: map[hub.Ref]*call{}, bySeq: map[statemachine.Seq]*call{}, marks: map[hub.Ref]*mark{},
	}
	s.flights = newFlights(n.local())
	s.hub = hub.New(hub.Config{
		Identity: n.identity(),
		NextSeq:  func() statemachine.Seq { n.seq++; return n.seq },
		Wall:     n.wall,
		Attempt:  election,
		Backoff:  election / 20,
	})
	return s
}

// input puts something into the mailbox of the hub's goroutine, which works
// through it in its own time.
func (s *shell) input(do func(*hub.Hub, clock.Instant)) {
	s.mail = append(s.mail, do)
	if len(s.mail) > 1 {
		return
	}
	s.n.timer(s.n.ills.turn(), func() {
		inputs := s.mail
		s.mail = nil
		for _, in := range inputs {
			s.step(in)
		}
		s.flush()
		s.schedule()
	})
}

// step feeds the hub one input and carries out what it causes. Losses are
// told first, before a window moves.
func (s *shell) step(in func(*hub.Hub, clock.Instant)) {
	in(s.hub, s.n.local())
	effects := s.hub.Effects()
	for _, e := range effects {
		if lost, ok := e.(hub.Lost); ok {
			s.calls[lost.Ref].effect(lost)
		}
	}
	s.heard, s.hasHeard = s.hub.HeardAt()
	for _, e := range effects {
		s.carryOut(e)
	}
}

func (s *shell) flush() {
	s.step(func(h *hub.Hub, now clock.Instant) { h.Flush(now) })
}

// schedule sets the timer for the hub's next look at the clock.
func (s *shell) schedule() {
	s.ticks++
	mine := s.ticks
	next, ok := s.hub.Next(s.n.local())
	if !ok {
		return
	}
	s.n.at(next, func() {
		if mine != s.ticks {
			return
		}
		s.flush()
		if next, ok := s.hub.Next(s.n.local()); ok && next <= s.n.local() {
			s.n.w.fail("ticks", "node %d, group %d: the hub wants to tick for ever", s.n.id, s.r.g.id)
		}
		s.schedule()
	})
}

func (s *shell) carryOut(e hub.Effect) {
	n := s.n
	switch e := e.(type) {
	case hub.Send:
		s.send(e)
		return
	case hub.Granted:
		n.w.tell("%d/%d granted %d as %v with %d until %d\n", n.id, s.r.g.id, e.Ref, e.Lease, e.Token, e.LimitEnd)
		s.calls[e.Ref].effect(e)
	case hub.Queued:
		s.calls[e.Ref].effect(e)
	case hub.Refused:
		n.w.tell("%d/%d refused %d for %d\n", n.id, s.r.g.id, e.Ref, e.Reason)
		s.calls[e.Ref].effect(e)
	case hub.Unavailable:
		s.calls[e.Ref].effect(e)
	case hub.Over:
		n.w.tell("%d/%d over %d\n", n.id, s.r.g.id, e.Ref)
		if c := s.calls[e.Ref]; c != nil { // nil: the Cancel of what was over already
			c.effect(e)
		}
	case hub.Lost:
		n.w.tell("%d/%d lost %d for %d\n", n.id, s.r.g.id, e.Ref, e.Reason)
	case hub.Reached:
		s.reached(e.Ref)
	case hub.Failing:
		s.renewing(true)
	case hub.Recovered:
		s.renewing(false)
	case hub.Left:
		n.w.count["left"]++
	default:
		n.w.fail("effects", "node %d, group %d: %T %+v", n.id, s.r.g.id, e, e)
	}
	if n.w.print != nil {
		n.w.trace("node %d, group %d: %T %+v", n.id, s.r.g.id, e, e)
	}
}

// renewing checks that Failing and Recovered take turns, as long as anything
// is renewed.
func (s *shell) renewing(fails bool) {
	if s.failing == fails && !s.n.leaving {
		s.n.w.fail("effects", "node %d, group %d: failing: %v, twice", s.n.id, s.r.g.id, fails)
	}
	s.failing = fails
}

// applied tells the hub of the events of an entry.
func (s *shell) applied(index statemachine.Index, events []statemachine.Event) {
	s.input(func(h *hub.Hub, now clock.Instant) {
		for _, e := range events {
			if e, ok := e.(statemachine.Applied); ok && e.Node == s.n.id {
				s.sees(e.Incarnation, e.Number, now)
			}
		}
		h.Applied(index, events, now)
	})
}

// sees notes that the hub is about to see a batch of its own applied.
func (s *shell) sees(incarnation statemachine.Incarnation, number statemachine.BatchNumber, now clock.Instant) {
	if incarnation == s.n.incarnation {
		s.flights.settle(number, now)
	}
}

func (s *shell) leaderChanged() {
	s.input(func(h *hub.Hub, now clock.Instant) { h.LeaderChanged(now) })
}

func (s *shell) attemptFailed(sent hub.Send) {
	s.input(func(h *hub.Hub, now clock.Instant) { h.AttemptFailed(sent.Number, sent.Attempt, now) })
}

// send carries an attempt to the group, or not, and hints at how it went.
func (s *shell) send(sent hub.Send) {
	n := s.n
	if sent.Attempt > 1 {
		n.w.count["retries"]++
	} else if batch, err := statemachine.DecodeBatch(sent.Data); err != nil {
		n.w.fail("encoding", "%v", err)
		return
	} else {
		s.tally(batch)
		if wrong := s.flights.first(batch, n.local()); wrong != "" {
			n.w.fail("numbers", "node %d, group %d: %s", n.id, s.r.g.id, wrong)
		}
		if n.watch.wall != 0 {
			n.w.count["wall clock jump"]++
		}
	}
	s.r.g.propose(n, sent.Data, func() {
		if s != s.r.shell {
			return // the process that sent it has ended
		}
		n.arrives(n.ills.random.within(n.w.setting.trip), func() { s.attemptFailed(sent) }, func() {})
	})
	n.ills.answer(s, sent)
}

// tally counts what a batch asks for that no caller sees.
func (s *shell) tally(b statemachine.Batch) {
	for _, c := range b.Commands {
		switch c := c.(type) {
		case statemachine.Acquire:
			if asked := s.calls[refOf(c.Metadata)]; asked != nil {
				s.bySeq[c.Seq] = asked
				if asked.seqs = append(asked.seqs, c.Seq); len(asked.seqs) > 1 {
					s.n.w.count["asked again"]++
				}
			}
		case statemachine.Release:
			if given := s.bySeq[c.Seq]; given != nil && given.open() {
				s.n.w.count["given back, too late"]++
			}
		}
	}
}

// wakes says that the hub watches something, or has something in flight.
func (s *shell) wakes() bool {
	_, wakes := s.hub.Next(s.n.local())
	return wakes
}
