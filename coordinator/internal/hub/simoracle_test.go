package hub

import (
	"hash/fnv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/token"
)

// oracle says what must hold at every step. It knows the log as soon as it is
// written, and what every owner believes.
type oracle struct {
	w       *world
	machine *statemachine.Machine
	dumps   []uint64 // of the state at each index
	tokens  map[string]token.Token
	batches map[statemachine.NodeID]statemachine.Applied
	begun   map[statemachine.LeaseID]string // queued or granted in the log, or over
}

func newOracle(w *world) *oracle {
	m := statemachine.New(genesis)
	return &oracle{
		w: w, machine: m, dumps: []uint64{dump(m)},
		tokens:  map[string]token.Token{},
		batches: map[statemachine.NodeID]statemachine.Applied{},
		begun:   map[statemachine.LeaseID]string{},
	}
}

func dump(m *statemachine.Machine) uint64 {
	h := fnv.New64a()
	_ = m.Dump(h) // a hash never fails
	return h.Sum64()
}

// committed checks what the new entry does.
func (o *oracle) committed(b statemachine.Batch) {
	index := statemachine.Index(len(o.w.log))
	for _, e := range o.machine.Apply(index, b) {
		switch e := e.(type) {
		case statemachine.Applied:
			o.applied(e)
		case statemachine.Queued:
			o.begins(e.Lease, "queued")
		case statemachine.Granted:
			o.begins(e.Lease, "granted")
			o.granted(e)
		case statemachine.Ended:
			o.ended(e)
		}
	}
	o.dumps = append(o.dumps, dump(o.machine))
	o.sound(o.machine)
}

// applied: G9, a batch takes effect once, and none after a later one.
func (o *oracle) applied(e statemachine.Applied) {
	last := o.batches[e.Node]
	if e.Incarnation < last.Incarnation || e.Incarnation == last.Incarnation && e.Number <= last.Number {
		o.w.fail("%+v was applied after %+v", e, last)
	}
	o.batches[e.Node] = e
}

// begins: G9, no request takes its place or its keys twice.
func (o *oracle) begins(id statemachine.LeaseID, how string) {
	if before := o.begun[id]; before == how || before == "granted" || before == "over" {
		o.w.fail("%v was %s after it was %s", id, how, before)
	}
	o.begun[id] = how
}

// granted: G2, tokens rise on every key.
func (o *oracle) granted(e statemachine.Granted) {
	o.w.count["grants"]++
	lease, ok := o.machine.Lease(e.Lease)
	if !ok {
		return // ended in the same entry
	}
	for _, c := range lease.Claims {
		if e.Token <= o.tokens[c.Key] {
			o.w.fail("token %d for key %s, after %d", e.Token, c.Key, o.tokens[c.Key])
		}
		o.tokens[c.Key] = e.Token
	}
}

// ended: G3, nothing expires while its owner trusts it.
func (o *oracle) ended(e statemachine.Ended) {
	switch e.Reason {
	case statemachine.EndExpired:
		o.w.count["expired"]++
	case statemachine.EndLimit:
		o.w.count["limits"]++
	case statemachine.EndSwept:
		o.w.count["swept"]++
	}
	for _, n := range o.w.nodes {
		for _, c := range n.callers {
			if c.trusts() && c.granted.Lease == e.Lease {
				o.w.fail("%v ended (reason %d) while its owner trusts it", e.Lease, e.Reason)
			}
		}
	}
}

// over: G10, the group has nothing of a request that is over, and never will
// have again.
func (o *oracle) over(c *caller) {
	for _, seq := range c.n.seqs[c.ref] {
		id := statemachine.LeaseID{Node: c.n.id, Incarnation: c.n.incarnation, Seq: seq}
		_, isLease := o.machine.Lease(id)
		_, isWait := o.machine.Wait(id)
		if isLease || isWait {
			o.w.fail("node %d, caller %d: it is over, and the group has %v", c.n.id, c.ref, id)
		}
		o.begun[id] = "over"
	}
}

// lost: what is said to have ended in the group has ended there.
func (o *oracle) lost(c *caller, reason LossReason) {
	if reason == LostWindow || reason == LostLimit {
		return
	}
	if _, isLease := o.machine.Lease(c.granted.Lease); isLease {
		o.w.fail("node %d, caller %d: lost (%d), and the group has %v", c.n.id, c.ref, reason, c.granted.Lease)
	}
}

// replicated: equal logs give equal states, on every replica.
func (o *oracle) replicated(n *node) {
	o.sound(n.machine)
	if index := n.machine.Meta().Applied; dump(n.machine) != o.dumps[index] {
		o.w.fail("node %d differs at index %d", n.id, index)
	}
}

func (o *oracle) sound(m *statemachine.Machine) {
	if err := m.Check(); err != nil {
		o.w.fail("%v", err)
	}
}

// check: G1 as the owners see it: no two trust the same key at one time.
func (o *oracle) check() {
	owners := map[string]statemachine.LeaseID{}
	for _, n := range o.w.nodes {
		for _, c := range n.callers {
			if !c.trusts() {
				continue
			}
			for _, claim := range c.ask.Claims {
				if other, owned := owners[claim.Key]; owned {
					o.w.fail("%v and %v both own %s", other, c.granted.Lease, claim.Key)
				}
				owners[claim.Key] = c.granted.Lease
			}
		}
	}
}

// counts says how often things happened. A fault that never happened was not
// tested.
type counts map[string]int

func (c counts) add(other counts) {
	for what, n := range other {
		c[what] += n
	}
}

func (c counts) requireAll(t *testing.T) {
	for _, what := range []string{
		"entries", "grants", "expired", "limits", "swept", "lost", "doubled", "late", "hints", "elections",
		"cuts", "pauses", "stalls", "kills", "leaves", "installs", "reopens", "offices",
		"held", "queued", "refused", "withdrawn", "losses", "unavailable", "too late", "asked again", "reached",
	} {
		require.NotZero(t, c[what], "%s: never", what)
	}
}
