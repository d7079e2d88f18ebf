package explore

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// explorer is one search.
type explorer struct {
	cfg     Config
	book    *book
	lives   *lives
	offices *offices
	healing bool // nothing goes wrong any longer, and batches are not counted
}

func newExplorer(cfg Config) *explorer {
	x := &explorer{cfg: cfg, book: newBook()}
	x.lives = newLives(x.book, &x.cfg)
	x.offices = newOffices(x.book, &x.cfg)
	return x
}

// first returns the state in which a search begins: both nodes have started
// and announced themselves, both know it, and the first is in office.
func (x *explorer) first() state {
	s := state{left: budget{
		leaders: uint8(x.cfg.Leaders), installs: uint8(x.cfg.Installs),
		restarts: [nodeCount]uint8{uint8(x.cfg.Restarts[0]), uint8(x.cfg.Restarts[1])},
		rests:    uint8(x.cfg.Rests), cancels: uint8(x.cfg.Cancels),
	}}
	for i := range s.nodes {
		r := x.lives.born(nodeID(i), 1, x.cfg.Asks[i], s.head)
		s.nodes[i] = node{life: r.life, office: x.offices.open(s.head)}
		s.sends(r.sends)
	}
	s.nodes[0].claims = true
	for _, m := range x.inFlight(&s) {
		x.do(&s, action{kind: delivers, arg: m})
		for i := range s.nodes {
			x.do(&s, action{kind: applies, node: i})
		}
	}
	x.do(&s, action{kind: takes})
	s.net = [netMax]uint32{}
	return s
}

// step returns how long it is until the next instant at which anything may be
// otherwise than now, in units of true time; zero: there is none.
func (x *explorer) step(s *state) uint32 {
	var least uint32
	for i := range s.nodes {
		n := &s.nodes[i]
		for _, d := range []time.Duration{
			x.lives.all.at(n.life).next,
			x.due(s, i).next,
		} {
			rate := x.cfg.rate(i)
			if units := uint32((d + rate - 1) / rate); d > 0 && (least == 0 || units < least) {
				least = units
			}
		}
	}
	return least
}

// due returns what the office of a node would propose now.
func (x *explorer) due(s *state, i int) plan {
	return x.offices.do(duty{s.nodes[i].office, propose, x.replica(s, i)})
}

// actions returns all that may happen in a state.
func (x *explorer) actions(s *state) []action {
	list := make([]action, 0, 32)
	if int(s.tails) < x.cfg.Lag {
		for _, m := range x.inFlight(s) {
			list = append(list, action{kind: delivers, arg: m})
		}
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		list = x.callers(s, i, list)
		if n.lag > 0 {
			list = append(list, action{kind: applies, node: i})
			if s.left.installs > 0 && s.nodes[1-i].lag < n.lag {
				list = append(list, action{kind: installs, node: i})
			}
		}
		if len(x.due(s, i).sends) > 0 {
			list = append(list, action{kind: proposes, node: i})
		}
		if n.claims && n.barrier == 0 && int(s.leader) == i && !n.news {
			list = append(list, action{kind: takes, node: i})
		}
		if n.news {
			list = append(list, action{kind: hears, node: i})
		}
		if s.left.restarts[i] > 0 {
			list = append(list, action{kind: restarts, node: i})
		}
		if s.left.leaders > 0 && int(s.leader) != i {
			list = append(list, action{kind: elects, node: i})
		}
	}
	if x.step(s) > 0 {
		list = append(list, action{kind: passes})
		for i := range s.nodes {
			if s.left.rests > 0 {
				list = append(list, action{kind: rests, node: i})
			}
		}
	}
	return list
}

// inFlight returns the messages in the network, in an order that does not
// depend on what the search came across before: so a path means the same in
// every run.
func (x *explorer) inFlight(s *state) []uint32 {
	list := s.messages()
	slices.SortFunc(list, func(a, b uint32) int {
		return bytes.Compare(x.book.messages.at(a).data, x.book.messages.at(b).data)
	})
	return list
}

func (x *explorer) callers(s *state, i int, list []action) []action {
	l := x.lives.all.at(s.nodes[i].life)
	if l.Silent {
		return list
	}
	first := true // of those that have not asked
	for c := range l.Callers {
		at := action{node: i, arg: uint32(c)}
		caller := &l.Callers[c]
		switch caller.Phase {
		case unasked:
			if first {
				at.kind = asks
				list = append(list, at)
			}
			first = false
		case asked, queued:
			if s.left.cancels > 0 {
				at.kind = leaves
				list = append(list, at)
			}
		case holds:
			at.kind = leaves
			if !l.process.trusts(caller, x.cfg.T) {
				at.kind = doubts
			}
			list = append(list, at)
		}
	}
	return list
}

// report is what an action came to.
type report struct {
	notes  notes
	broken string
	// beyond says that the action leads out of the bounds.
	beyond bool
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
		r.beyond = !s.sends(p.sends)
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

// forget drops what can't matter any longer.
func (x *explorer) forget(s *state) {
	for i := range s.nodes {
		n := &s.nodes[i]
		if int(s.leader) != i && !n.news && s.left.leaders == 0 && s.left.restarts[s.leader] == 0 {
			n.office, n.claims, n.barrier = closed, false, 0
		}
	}
	kept := netMax
	for i := netMax - 1; i >= 0 && s.net[i] != 0; i-- {
		if !x.stale(s, s.net[i]-1) {
			kept--
			s.net[kept] = s.net[i]
		}
	}
	for i := range kept {
		s.net[i] = 0
	}
}

// stale says that a message has been overtaken so long ago that the network
// does not have it any longer.
func (x *explorer) stale(s *state, m uint32) bool {
	batch := &x.book.messages.at(m).batch
	node, incarnation, number := batch.Node, batch.Incarnation, batch.Number
	if node == 0 {
		expire, ok := batch.Commands[0].(statemachine.Expire)
		if !ok {
			return false
		}
		node, incarnation, number = expire.Node, expire.Incarnation, expire.Last
	}
	known, _ := x.book.machines.at(s.head).Presence(node)
	return incarnation+1 < known.Incarnation ||
		incarnation == known.Incarnation && int(number)+x.cfg.Memory < int(known.Last)
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
	r.beyond = !s.sends(o.sends) || r.beyond
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

// issue: G2, a token is greater than all before it for each of its keys.
func (x *explorer) issue(s *state, e *entry, g statemachine.Granted) string {
	lease, ok := x.book.machines.at(e.after).Lease(g.Lease)
	if !ok {
		return ""
	}
	for _, c := range lease.Claims {
		last := &s.tokens[c.Key[0]-'a']
		if uint32(g.Token) <= *last {
			return fmt.Sprintf("G2: %v got token %d for %s, after token %d", g.Lease, g.Token, c.Key, *last)
		}
		*last = uint32(g.Token)
	}
	return ""
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

// check says which guarantee does not hold in a state.
func (x *explorer) check(s *state) string {
	head := x.book.machines.at(s.head)
	for i := range s.nodes {
		l := x.lives.all.at(s.nodes[i].life)
		for _, id := range l.trusts {
			if !head.hasLease(id) {
				return fmt.Sprintf("G3: the owner of %v trusts it, and it has ended in the log", id)
			}
		}
		for _, id := range l.gone {
			if has := head.of(id); has != "" {
				return fmt.Sprintf("G10: the call %s has ended, and the log has %s of it", id, has)
			}
		}
	}
	return ""
}

func (m *machine) hasLease(id statemachine.LeaseID) bool {
	for i := range m.leases {
		if m.leases[i].ID == id {
			return true
		}
	}
	return false
}

// of returns what the log has of a request, "" if nothing.
func (m *machine) of(requestID string) string {
	for i := range m.leases {
		if m.leases[i].RequestID == requestID {
			return "the lease " + m.leases[i].ID.String()
		}
	}
	for i := range m.waits {
		if m.waits[i].RequestID == requestID {
			return "the wait " + m.waits[i].ID.String()
		}
	}
	return ""
}
