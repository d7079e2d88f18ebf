package explore

import (
	"bytes"
	"slices"
	"time"
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
		l := x.lives.all.at(s.nodes[i].life)
		next := l.next
		if x.healing {
			next = l.calm
		}
		for _, d := range []time.Duration{next, x.due(s, i).next} {
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
	for i := range s.nodes {
		if x.cfg.Rests > 0 && x.late(s, i) {
			list = append(list, action{kind: looks, node: i})
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

// late says that a hub would do something if it looked at its clock. That it
// does so when time has passed, unless it rested then.
func (x *explorer) late(s *state, i int) bool {
	n := s.nodes[i].life
	return !x.lives.all.at(n).Silent && !x.lives.same(x.lives.give(input{n, pass, 0}, !x.healing).life, n)
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
