package storetest

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

var seedFlag = flag.Uint64("storetest.seed", 0, "seed of the random histories; 0 takes the time")

// steps is how many changes a random history has.
const steps = 600

// naive is the second implementation: a list of all operations of a resource.
type naive struct {
	highest    token.Token
	operations []token.Operation
	records    []*httpfence.Record
}

func (n *naive) find(operation token.Operation) int {
	for i, o := range n.operations {
		if o == operation {
			return i
		}
	}
	return -1
}

func (n *naive) remove(i int) {
	n.operations = append(n.operations[:i:i], n.operations[i+1:]...)
	n.records = append(n.records[:i:i], n.records[i+1:]...)
}

func (n *naive) save(change httpfence.Change) {
	n.highest = max(n.highest, change.Highest)
	at := n.find(change.Operation)
	switch {
	case change.Operation == "":
	case change.Record == nil && at >= 0:
		n.remove(at)
	case change.Record == nil:
	case at >= 0:
		n.records[at] = change.Record
	default:
		n.operations, n.records = append(n.operations, change.Operation), append(n.records, change.Record)
		if len(n.operations) > OperationsMax {
			n.remove(0)
		}
	}
}

func (n *naive) load(operation token.Operation) httpfence.Kept {
	kept := httpfence.Kept{Highest: n.highest}
	if at := n.find(operation); at >= 0 {
		kept.Record = n.records[at]
	}
	return kept
}

// randomHistory compares a store with the naive one after every step. It forgets
// the last operation only, as a guard does whose handler says NotApplied: one
// that is forgotten in the middle may count for the bound until it is the
// oldest.
func randomHistory(s *subject) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	s.t.Logf("replay with: go test -run '^%s$' -storetest.seed=%d", s.t.Name(), seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	resources := []string{"a", "b", "a/b"}
	models := map[string]*naive{}
	for _, resource := range resources {
		models[resource] = &naive{}
	}
	happened := map[string]int{}
	for step := range steps {
		resource := resources[rng.IntN(len(resources))]
		model := models[resource]
		change := httpfence.Change{Highest: token.Token(rng.IntN(6))}
		operation := token.Operation(fmt.Sprint(rng.IntN(2 * OperationsMax)))
		t := token.Token(1 + rng.IntN(5))
		switch rng.IntN(5) {
		case 0:
			happened["fence alone"]++
		case 1:
			change.Operation, change.Record = operation, Begun(t, byte(step))
			happened["begun"]++
		case 2:
			change.Operation, change.Record = operation, Answered(t, byte(step))
			happened["answered"]++
		case 3:
			change.Operation, change.Record = operation, Omitted(t, byte(step))
			happened["omitted"]++
		case 4:
			change.Operation = operation
			if n := len(model.operations); n > 0 {
				change.Operation = model.operations[n-1]
				happened["forgotten"]++
			}
		}
		if change.Record != nil && model.find(operation) < 0 && len(model.operations) == OperationsMax {
			happened["pushed out"]++
		}
		s.save(resource, change)
		model.save(change)
		for _, r := range resources {
			for o := range 2 * OperationsMax {
				id := token.Operation(fmt.Sprint(o))
				require.Equal(s.t, models[r].load(id), s.load(r, id), "step %d: %s at %q", step, id, r)
			}
		}
	}
	for _, kind := range []string{"fence alone", "begun", "answered", "omitted", "forgotten", "pushed out"} {
		require.Positive(s.t, happened[kind], kind)
	}
}
