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

// drawPlan numbers the clients, then the strikes by their time. Each world
// knows only some of the faults, or they would hide one another: with an
// election every other second, say, nothing but graces is ever seen. Most
// clocks are off from the beginning.
func drawPlan(seed int64, s setting) plan {
	r := newStream(seed, "plan")
	var p plan
	for node := range s.nodes {
		for range s.clients {
			p = append(p, part{number: len(p) + 1, node: node})
		}
	}
	some, total := someFaults(r)
	strikes := make([]*strike, s.strikes)
	for i := range strikes {
		st := &strike{
			fault: drawFault(some, r.IntN(total)), at: r.between(0, s.troubled),
			lasts: r.between(0, 2*time.Second), // mostly short against a TTL, sometimes far longer
			node:  r.IntN(s.nodes), group: r.IntN(s.groups),
		}
		if r.chance(25) {
			st.lasts = r.between(0, longest)
		}
		strikes[i] = st
	}
	for node := range s.nodes {
		if r.chance(75) {
			strikes = append(strikes, &strike{fault: faultNamed("clock speed"), node: node})
		}
	}
	slices.SortStableFunc(strikes, func(a, b *strike) int { return cmp.Compare(a.at, b.at) })
	for _, st := range strikes {
		st.number = len(p) + 1
		p = append(p, part{number: st.number, node: st.node, strike: st})
	}
	return p
}

func faultNamed(name string) fault {
	return faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == name })]
}

// someFaults draws about half of the table, and returns the sum of the weights.
func someFaults(r stream) (some []fault, total int) {
	for len(some) == 0 {
		for _, f := range faults {
			if r.chance(50) {
				some, total = append(some, f), total+f.weight
			}
		}
	}
	return some, total
}

// drawFault returns the fault at a place of the weights.
func drawFault(some []fault, place int) fault {
	for _, f := range some {
		if place < f.weight {
			return f
		}
		place -= f.weight
	}
	panic("beyond the weights")
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
