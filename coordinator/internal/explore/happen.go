package explore

import (
	"fmt"

	"github.com/palisade-go/palisade/statemachine"
)

// report is what an action came to.
type report struct {
	notes  notes
	broken string
	// beyond says that the action leads out of the bounds, and full that the
	// network has no room for what it sends, which the bounds should prevent.
	beyond, full bool
}

// do lets an action happen. Code that panics breaks a guarantee.
func (x *explorer) do(s *state, a action) (r report) {
	defer func() {
		if cause := recover(); cause != nil {
			r.broken = fmt.Sprintf("panic: %v", cause)
		}
	}()
	n := &s.nodes[a.node]
	switch a.kind {
	case asks:
		x.call(s, a, ask, &r)
	case leaves:
		if l := x.lives.all.at(n.life); l.Callers[a.arg].Phase != holds {
			s.left.cancels--
		}
		x.call(s, a, cancel, &r)
	case doubts:
		x.call(s, a, distrust, &r)
	case delivers:
		x.deliver(s, a.arg, &r)
	case applies:
		x.apply(s, a.node, &r)
	case proposes:
		r.notes.add(ExpireProposed)
		if n.lag > 0 {
			r.notes.add(ProposedBehind)
		}
		p := x.due(s, a.node)
		n.office = p.office
		r.full = !s.sends(p.sends)
	case takes:
		r.notes.add(TookOffice)
		n.claims = false
		n.office = x.offices.do(duty{n.office, takeOffice, 0}).office
	case elects:
		s.left.leaders--
		x.elect(s, a.node, &r)
	case hears:
		x.hearOf(s, a.node, &r)
	case installs:
		s.left.installs--
		x.install(s, a.node, &r)
	case restarts:
		s.left.restarts[a.node]--
		x.restart(s, a.node, &r)
	case passes:
		x.pass(s, x.step(s), -1, &r)
	case looks:
		x.give(s, a.node, pass, 0, &r)
	case rests:
		s.left.rests--
		r.notes.add(Rested)
		x.pass(s, x.step(s), a.node, &r)
	}
	if !x.healing {
		x.forget(s)
	}
	if r.broken == "" {
		r.broken = x.check(s)
	}
	return r
}

// give gives an input to the process of a node.
func (x *explorer) give(s *state, i int, kind inputKind, arg uint32, r *report) {
	n := &s.nodes[i]
	got := x.lives.give(input{n.life, kind, arg}, !x.healing)
	n.life = got.life
	x.took(s, got.outcome, r)
}

func (x *explorer) took(s *state, o outcome, r *report) {
	r.notes |= o.notes
	if r.broken == "" {
		r.broken = o.broken
	}
	r.full = !s.sends(o.sends) || r.full
}

// call is what a caller does. One for which there is no batch left does
// nothing.
func (x *explorer) call(s *state, a action, kind inputKind, r *report) {
	x.give(s, a.node, kind, a.arg, r)
	r.beyond = r.beyond || x.lives.all.at(s.nodes[a.node].life).Silent
}

func (x *explorer) deliver(s *state, m uint32, r *report) {
	number := x.book.step(s.head, m)
	e := &x.book.entries[number]
	r.notes |= e.notes
	r.broken = e.broken
	for _, event := range e.events {
		if g, ok := event.(statemachine.Granted); ok && r.broken == "" {
			r.broken = x.issue(s, e, g)
		}
	}
	s.head = e.after
	if e.idle() {
		return
	}
	s.tail[s.tails] = number
	s.tails++
	for i := range s.nodes {
		s.nodes[i].lag++
	}
}

func (x *explorer) apply(s *state, i int, r *report) {
	n := &s.nodes[i]
	number := s.tail[s.tails-uint32(n.lag)]
	n.lag--
	n.barrier = max(n.barrier, 1) - 1
	n.office = x.offices.do(duty{n.office, observe, number}).office
	if len(x.book.entries[number].events) > 0 {
		x.give(s, i, hear, number, r)
	}
	s.trim()
}

func (x *explorer) elect(s *state, i int, r *report) {
	r.notes.add(Elected)
	s.leader = uint32(i)
	for i := range s.nodes {
		s.nodes[i].news = true
	}
}

func (x *explorer) hearOf(s *state, i int, r *report) {
	n := &s.nodes[i]
	n.news = false
	n.office = x.offices.do(duty{n.office, leaveOffice, 0}).office
	n.claims, n.barrier = int(s.leader) == i, n.lag
	x.give(s, i, newLeader, 0, r)
}

func (x *explorer) install(s *state, i int, r *report) {
	r.notes.add(Installed)
	n := &s.nodes[i]
	covered := n.lag - s.nodes[1-i].lag
	n.lag -= covered
	n.barrier = max(n.barrier, covered) - covered
	m := x.replica(s, i)
	n.claims = n.claims || n.office != closed && x.offices.all.at(n.office).Proposer.InOffice()
	n.office = x.offices.do(duty{n.office, reset, m}).office
	x.give(s, i, resync, m, r)
	s.trim()
}

// restart ends the process of a node and starts the next one, with the state
// that its replica has. A leader that restarts has lost its office.
func (x *explorer) restart(s *state, i int, r *report) {
	r.notes.add(Restarted)
	n := &s.nodes[i]
	m := x.replica(s, i)
	got := x.lives.born(nodeID(i), x.lives.all.at(n.life).Incarnation+1, x.cfg.Again[i], m)
	n.life, n.office = got.life, x.offices.open(m)
	n.news, n.claims, n.barrier = true, false, 0
	x.took(s, got.outcome, r)
	if int(s.leader) == i {
		x.elect(s, 1-i, r)
	}
}

// pass lets time pass. A node that stands still does nothing meanwhile, and
// nothing at its end.
func (x *explorer) pass(s *state, units uint32, still int, r *report) {
	for i := range s.nodes {
		n := &s.nodes[i]
		local := units * uint32(x.cfg.rate(i))
		n.office = x.offices.do(duty{n.office, wait, local}).office
		kind := pass
		if i == still {
			kind = rest
		}
		x.give(s, i, kind, local, r)
	}
}
