package sim

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// part is one thing of a plan that can be left out: a client or a strike.
type part struct {
	number int
	node   int     // the place of the node that it is about
	strike *strike // nil: the part is a client of the node
}

// strike is one time that a fault happens.
type strike struct {
	number int
	fault  fault
	at     time.Duration
	lasts  time.Duration
	node   int
	group  int
}

// plan is what a seed has in store, in the order of the numbers.
type plan []part

// drawPlan numbers the clients, then the strikes by their time.
func drawPlan(seed int64, s setting) plan {
	r := newStream(seed, "plan")
	var p plan
	for node := range s.nodes {
		for range s.clients {
			p = append(p, part{number: len(p) + 1, node: node})
		}
	}
	total := 0
	for _, f := range faults {
		total += f.weight
	}
	strikes := make([]*strike, s.strikes)
	for i := range strikes {
		st := &strike{
			fault: drawFault(r.IntN(total)), at: r.between(0, s.troubled),
			lasts: r.between(0, 2*time.Second), // mostly short against a TTL, sometimes far longer
			node:  r.IntN(s.nodes), group: r.IntN(s.groups),
		}
		if r.chance(25) {
			st.lasts = r.between(0, longest)
		}
		strikes[i] = st
	}
	slices.SortStableFunc(strikes, func(a, b *strike) int { return cmp.Compare(a.at, b.at) })
	for _, st := range strikes {
		st.number = len(p) + 1
		p = append(p, part{number: st.number, node: st.node, strike: st})
	}
	return p
}

// drawFault returns the fault at a place of the table's weights.
func drawFault(place int) fault {
	for _, f := range faults {
		if place < f.weight {
			return f
		}
		place -= f.weight
	}
	return faults[0]
}

// without returns the plan less some numbers.
func (p plan) without(numbers []int) plan {
	return slices.DeleteFunc(slices.Clone(p), func(one part) bool { return slices.Contains(numbers, one.number) })
}

func (p plan) numbers() []int {
	var all []int
	for _, one := range p {
		all = append(all, one.number)
	}
	return all
}

func (p part) String() string {
	if p.strike == nil {
		return fmt.Sprintf("%d: a client of node %d", p.number, p.node+1)
	}
	s := p.strike
	return fmt.Sprintf("%d: %s at %v for %v, node %d, group %d", p.number, s.fault.name, s.at, s.lasts, s.node+1, s.group+1)
}
