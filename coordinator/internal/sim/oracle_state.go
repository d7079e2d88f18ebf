package sim

import (
	"hash/fnv"

	"github.com/palisade-go/palisade/statemachine"
)

// dump is a hash of the whole state.
func dump(m *statemachine.Machine) uint64 {
	h := fnv.New64a()
	_ = m.Dump(h) // a hash never fails
	return h.Sum64()
}

// whole says that the state at an index is compared whole, and checked.
func (o *oracle) whole(index statemachine.Index) bool {
	return int(index)%o.g.w.setting.dumpEvery == 0
}

// replicated: equal logs give equal states on every replica. What the entries
// change is compared at each index; the whole state, keys and queues too, at
// some, as are the machine's invariants.
func (o *oracle) replicated(r *replica) {
	index := r.machine.Meta().Applied
	if r.digest.sum != o.digests[index] {
		o.fail("determinism", "the image of node %d differs at index %d", r.n.id, index)
	}
	if !o.whole(index) {
		return
	}
	o.sound(r.machine)
	if dump(r.machine) != o.dumps[index] {
		o.fail("determinism", "node %d differs at index %d", r.n.id, index)
	}
}

// sound: the machine's own invariants.
func (o *oracle) sound(m *statemachine.Machine) {
	if err := m.Check(); err != nil {
		o.fail("invariant", "%v", err)
	}
}
