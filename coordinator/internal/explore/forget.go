package explore

import (
	"github.com/palisade-go/palisade/statemachine"
)

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
