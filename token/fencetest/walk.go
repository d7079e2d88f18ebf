package fencetest

import (
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/token"
)

// walkRules go through all that is short.
var walkRules = []rule{
	{statement: "ThreeWritersInAnyOrderGiveWhatTheReferenceGives", check: walk},
}

const (
	walkers        = 3 // with the tokens 1, 2 and 3
	writesOfWalker = 2
	writesOfWalk   = walkers * writesOfWalker
)

// walk lets three writers make two writes each, one after the other, in every
// order of their steps and with every choice of their operations, each at a
// resource of its own. With fewer Steps than that takes, it leaves some out,
// evenly.
func walk(t *trial) {
	orders := interleavings()
	scripts := scriptsOf(t.traits)
	all := len(orders) * len(scripts)
	every := max(1, all*writesOfWalk/t.steps)
	first := int(t.seed % uint64(every))
	if every > 1 {
		t.seeded = true
	}
	walked := 0
	for i := first; i < all; i += every {
		walked++
		resource := fmt.Sprintf("list of walk %d", i)
		next := make([]int, walkers)
		for _, who := range orders[i%len(orders)] {
			op := scripts[i/len(orders)][who][next[who]]
			next[who]++
			t.compare(call{verb: appendAny, write: on(resource, token.Token(who+1), op), entry: t.newEntry()})
		}
		t.forget()
	}
	t.Logf("walked %d of %d ways of %d writes", walked, all, writesOfWalk)
}

// interleavings are all orders in which the writers can make their steps.
func interleavings() [][]int {
	var all [][]int
	var extend func(order []int)
	extend = func(order []int) {
		if len(order) == writesOfWalk {
			all = append(all, slices.Clone(order))
			return
		}
		for who := range walkers {
			made := 0
			for _, w := range order {
				if w == who {
					made++
				}
			}
			if made < writesOfWalker {
				extend(append(order, who))
			}
		}
	}
	extend(nil)
	return all
}

// script is the operations of each writer.
type script [walkers][writesOfWalker]token.Operation

// scriptsOf are all choices of operations out of none and two. Those that
// differ only in which of the two is called a are one.
func scriptsOf(traits Traits) []script {
	if traits.NoOperations {
		return make([]script, 1)
	}
	ops := []token.Operation{"", "a", "b"}
	var all []script
	var extend func(s script, n int)
	extend = func(s script, n int) {
		if n == writesOfWalk {
			all = append(all, s)
			return
		}
		known := 2 // b only once a was
		for i := range n {
			if s[i/writesOfWalker][i%writesOfWalker] != "" {
				known = len(ops)
			}
		}
		for _, op := range ops[:known] {
			s[n/writesOfWalker][n%writesOfWalker] = op
			extend(s, n+1)
		}
	}
	extend(script{}, 0)
	return all
}
