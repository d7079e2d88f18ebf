package torture

import (
	"slices"
	"time"
)

// plan says which faults come next.
type plan struct {
	processes, links []faultKind
	limit            time.Duration // how long to draw; 0: only what is in rest
	rest             [][]faultKind // what is still to come of a fixed plan
	again            int           // how often what was missing was added to it
}

// againMax is how often a fixed plan takes up the faults that nobody noticed: a
// link on which nothing was said while it was cut, for one.
const againMax = 3

// newPlan makes a plan. The fixed one has each fault once, in any order: those
// of processes together with those of links.
func newPlan(n *nemesis, limit time.Duration, processes, links []faultKind) *plan {
	p := &plan{processes: processes, links: links, limit: limit}
	if limit > 0 {
		return p
	}
	p.rest = make([][]faultKind, max(len(processes), len(links)))
	for _, kinds := range [][]faultKind{processes, links} {
		for i, at := range n.random.Perm(len(kinds)) {
			p.rest[i] = append(p.rest[i], kinds[at])
		}
	}
	return p
}

// next returns the faults of the next series; none if that was all.
func (p *plan) next(n *nemesis) []faultKind {
	if p.limit > 0 {
		if time.Since(n.tally.began) > p.limit {
			return nil
		}
		return p.draw(n)
	}
	if len(p.rest) == 0 && p.again < againMax {
		p.again++
		for _, k := range p.missing(n) {
			p.rest = append(p.rest, []faultKind{k})
		}
	}
	if len(p.rest) == 0 {
		return nil
	}
	kinds := p.rest[0]
	p.rest = p.rest[1:]
	return kinds
}

// missing returns the faults that nobody has noticed yet.
func (p *plan) missing(n *nemesis) []faultKind {
	var missing []faultKind
	for _, k := range slices.Concat(p.processes, p.links) {
		if n.tally.count(k.name) == 0 {
			missing = append(missing, k)
		}
	}
	return missing
}

// calm is how long a long run goes on with faults that restart nodes, and then
// without them, so that it can be seen whether a node grows.
const calm = 10 * time.Minute

// draw draws up to four faults that may overlap, at most two of them of
// processes.
func (p *plan) draw(n *nemesis) []faultKind {
	processes := p.processes
	if time.Since(n.tally.began)/calm%2 == 1 {
		processes = slices.DeleteFunc(slices.Clone(processes), func(k faultKind) bool { return k.restarts })
	}
	var kinds []faultKind
	for range n.random.IntN(3) {
		kinds = append(kinds, p.links[n.random.IntN(len(p.links))])
	}
	if len(kinds) > 0 && n.random.IntN(3) == 0 {
		return kinds
	}
	first := processes[n.random.IntN(len(processes))]
	second := processes[n.random.IntN(len(processes))]
	if !first.alone && !second.alone && n.random.IntN(2) == 0 {
		kinds = append(kinds, second)
		n.random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	}
	if first.alone || n.random.IntN(2) == 0 {
		return append([]faultKind{first}, kinds...)
	}
	return append(kinds, first)
}
