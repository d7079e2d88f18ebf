package dashboard

import (
	"cmp"
	"slices"

	"github.com/palisade-go/palisade/coordinator"
)

const (
	// queuesShown is how many queues are listed, and looked at for who waits for
	// whom.
	queuesShown = 30
	// lineLooked is how much of each is looked at.
	lineLooked = 1000
	// keysNamed is how many keys an edge names.
	keysNamed = 3
)

// pair is a node that waits for another, or for itself.
type pair struct{ waiter, holder coordinator.NodeID }

// waitsFor counts who waits for whom in the queues.
func waitsFor(c *coordinator.Coordinator, queues []coordinator.KeyState) []WaitsFor {
	counts := map[pair]map[string]int{}
	for _, q := range queues {
		k, taken, err := c.Peek(q.Key, lineLooked)
		if err != nil || !taken || k.Holder == nil {
			continue // it has changed hands meanwhile
		}
		for _, w := range k.Queue {
			p := pair{w.Node, k.Holder.Node}
			if counts[p] == nil {
				counts[p] = map[string]int{}
			}
			counts[p][k.Key]++
		}
	}
	edges := make([]WaitsFor, 0, len(counts))
	for p, keys := range counts {
		e := WaitsFor{Waiter: uint64(p.waiter), Holder: uint64(p.holder)}
		for key, n := range keys {
			e.Requests += n
			e.Keys = append(e.Keys, key)
		}
		slices.SortFunc(e.Keys, func(a, b string) int { return cmp.Or(keys[b]-keys[a], cmp.Compare(a, b)) })
		e.Keys = e.Keys[:min(keysNamed, len(e.Keys))]
		edges = append(edges, e)
	}
	slices.SortFunc(edges, func(a, b WaitsFor) int {
		return cmp.Or(b.Requests-a.Requests, cmp.Compare(a.Waiter, b.Waiter), cmp.Compare(a.Holder, b.Holder))
	})
	return edges
}

// hasCycle reports whether nodes wait for one another in a circle. Several callers
// live in a node, so that need not be a deadlock.
func hasCycle(edges []WaitsFor) bool {
	next := map[uint64][]uint64{}
	for _, e := range edges {
		if e.Waiter != e.Holder {
			next[e.Waiter] = append(next[e.Waiter], e.Holder)
		}
	}
	const (
		onTheWay = 1
		done     = 2
	)
	state := map[uint64]int{}
	var visit func(uint64) bool
	visit = func(n uint64) bool {
		state[n] = onTheWay
		for _, to := range next[n] {
			if state[to] == onTheWay || state[to] == 0 && visit(to) {
				return true
			}
		}
		state[n] = done
		return false
	}
	for n := range next {
		if state[n] == 0 && visit(n) {
			return true
		}
	}
	return false
}
