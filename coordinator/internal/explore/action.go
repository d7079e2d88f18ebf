package explore

import "fmt"

// actionKind is one of the things that may happen next.
type actionKind uint8

const (
	asks actionKind = iota
	leaves
	doubts
	delivers
	applies
	proposes
	takes
	elects
	hears
	installs
	restarts
	passes
	rests
	looks
)

// action is one of them.
type action struct {
	kind actionKind
	node int
	arg  uint32 // the caller, or the message
}

func (x *explorer) describe(s *state, a action) string {
	n := nodeID(a.node)
	switch a.kind {
	case asks:
		c := x.lives.all.at(s.nodes[a.node].life).Callers[a.arg]
		how := ""
		if c.Ask.Try {
			how = " (try)"
		}
		return fmt.Sprintf("node %d: caller %d asks for %s%s", n, a.arg+1, c.Ask.Keys, how)
	case leaves:
		if x.lives.all.at(s.nodes[a.node].life).Callers[a.arg].Phase == holds {
			return fmt.Sprintf("node %d: caller %d releases", n, a.arg+1)
		}
		return fmt.Sprintf("node %d: caller %d cancels", n, a.arg+1)
	case doubts:
		return fmt.Sprintf("node %d: caller %d finds its window over", n, a.arg+1)
	case delivers:
		return "the log gets " + x.book.messages.at(a.arg).String()
	case applies:
		return fmt.Sprintf("node %d applies an entry", n)
	case proposes:
		return fmt.Sprintf("node %d proposes as the leader", n)
	case takes:
		return fmt.Sprintf("node %d takes office", n)
	case elects:
		return fmt.Sprintf("node %d is elected", n)
	case hears:
		return fmt.Sprintf("node %d hears who leads", n)
	case installs:
		return fmt.Sprintf("node %d installs a snapshot", n)
	case restarts:
		return fmt.Sprintf("node %d restarts", n)
	case passes:
		return fmt.Sprintf("%d units of time pass", x.step(s))
	case rests:
		return fmt.Sprintf("%d units of time pass while node %d stands still", x.step(s), n)
	case looks:
		return fmt.Sprintf("node %d looks at its clock", n)
	}
	panic("explore: unknown action")
}

func (m *message) String() string {
	b := m.batch
	text := "the leader's"
	if b.Node != 0 {
		text = fmt.Sprintf("batch %d of %d.%d", b.Number, b.Node, b.Incarnation)
	}
	for _, c := range b.Commands {
		text += fmt.Sprintf(" %T%v", c, c)
	}
	return text
}
