package explore

import (
	"fmt"
	"strings"
	"time"
)

// healer finds out whether a world comes to rest once nothing goes wrong any
// longer: every caller is answered, and everything is released or has expired.
//
// All that is in the network is lost, and no retry of it has begun. After that
// each message is delivered once, at once, and every replica applies it; who
// has not heard who leads does, the leader takes office if it is not in it,
// and whoever holds a lease releases it. A node that fell silent stays so: the
// others have to go on without it. Nobody asks for anything new.
type healer struct {
	x *explorer
	// healed are the states that are known to come to rest, and in how many
	// units of time.
	healed  map[identity]uint32
	slowest uint32
}

// stepsMax is how many steps a world may take to come to rest.
const stepsMax = 1000

// heal lets a world come to rest, and says what is wrong if it does not.
func (h *healer) heal(s state) (broken string) {
	h.x.healing = true
	defer func() { h.x.healing = false }()
	h.calm(&s)
	type stop struct {
		identity
		at uint32
	}
	var way []stop
	var units uint32
	for range stepsMax {
		id := s.identity()
		rest, known := h.healed[id]
		if known || h.x.atRest(&s) {
			for _, stop := range way {
				h.healed[stop.identity] = units + rest - stop.at
			}
			h.healed[id] = rest
			return h.took(units + rest)
		}
		way = append(way, stop{id, units})
		a, ok := h.x.next(&s)
		if !ok {
			return "nothing more happens"
		}
		if a.kind == passes {
			units += h.x.step(&s)
		}
		if broken := h.do(&s, a); broken != "" {
			return broken
		}
	}
	return fmt.Sprintf("%d steps and %d units of time are not enough", stepsMax, units)
}

// calm is the moment from which on nothing goes wrong.
func (h *healer) calm(s *state) {
	s.net, s.left, s.tokens = [netMax]uint32{}, budget{}, [keyCount]uint32{}
	for i := range s.nodes {
		n := &s.nodes[i]
		n.office = h.x.offices.do(duty{n.office, insist, 0}).office
	}
}

func (h *healer) do(s *state, a action) (broken string) {
	did := h.x.do(s, a)
	if a.kind == delivers {
		s.drop(a.arg)
	}
	if did.broken == "" && did.full {
		return "the network is full"
	}
	return did.broken
}

// took is G6: the dead are let go within 2T.
func (h *healer) took(units uint32) string {
	h.slowest = max(h.slowest, units)
	slow := min(h.x.cfg.rate(0), h.x.cfg.rate(1))
	if local := time.Duration(units) * slow; local > 2*h.x.cfg.T {
		return fmt.Sprintf("G6: it takes %d units of time", units)
	}
	return ""
}

// told says what happens on the way to rest.
func (h *healer) told(s state) string {
	h.x.healing = true
	defer func() { h.x.healing = false }()
	h.calm(&s)
	var text strings.Builder
	for range 40 {
		a, ok := h.x.next(&s)
		if !ok || h.x.atRest(&s) {
			break
		}
		fmt.Fprintf(&text, "  calm: %s\n", h.x.describe(&s, a))
		if broken := h.do(&s, a); broken != "" {
			break
		}
	}
	return text.String()
}

// next chooses the one thing that happens next.
func (x *explorer) next(s *state) (action, bool) {
	if m := x.inFlight(s); len(m) > 0 && s.tails < tailMax {
		return action{kind: delivers, arg: m[0]}, true
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		switch {
		case x.late(s, i):
			return action{kind: looks, node: i}, true
		case n.lag > 0:
			return action{kind: applies, node: i}, true
		case n.news:
			return action{kind: hears, node: i}, true
		case n.claims && int(s.leader) == i:
			return action{kind: takes, node: i}, true
		}
	}
	for i := range s.nodes {
		for _, a := range x.callers(s, i, nil) {
			if a.kind != asks {
				return a, true
			}
		}
		if len(x.due(s, i).sends) > 0 {
			return action{kind: proposes, node: i}, true
		}
	}
	return action{kind: passes}, x.step(s) > 0
}

// atRest says that everything is settled, and nothing is left in the log.
func (x *explorer) atRest(s *state) bool {
	for i := range s.nodes {
		if l := x.lives.all.at(s.nodes[i].life); l.open && !l.Silent {
			return false
		}
	}
	head := x.book.machines.at(s.head)
	return s.tails == 0 && len(head.leases)+len(head.waits) == 0 && s.net[netMax-1] == 0
}

// drop takes a message out of the net.
func (s *state) drop(m uint32) {
	for i := range s.net {
		if s.net[i] == m+1 {
			copy(s.net[1:i+1], s.net[:i])
			s.net[0] = 0
		}
	}
}
