package explore

import (
	"fmt"

	"github.com/palisade-go/palisade/statemachine"
)

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
