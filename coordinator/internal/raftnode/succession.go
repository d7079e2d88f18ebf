package raftnode

import "github.com/palisade-go/palisade/statemachine"

// succession is to whom a leadership was offered last. A member that is not
// up to it must not be asked again and again.
type succession struct{ turn int }

// successor returns the members one after the other, without self; false if
// there is nobody else.
func (s *succession) successor(members []statemachine.NodeID, self statemachine.NodeID) (statemachine.NodeID, bool) {
	for range members {
		s.turn++
		if next := members[s.turn%len(members)]; next != self {
			return next, true
		}
	}
	return 0, false
}
