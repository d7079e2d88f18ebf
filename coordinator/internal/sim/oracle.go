package sim

import (
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/token"
)

// oracle says what must hold of one group. It knows the log as soon as it is
// written, and reads it by itself: what it knows of owners, queues and tokens
// comes from commands and events, not from the machine's state.
type oracle struct {
	g       *group
	machine *statemachine.Machine
	digest  *digest
	digests []uint64                      // of the image at each index
	dumps   map[statemachine.Index]uint64 // of the whole state, at some

	batches map[statemachine.NodeID]statemachine.Applied
	stands  map[statemachine.LeaseID]*standing // of the requests that are not over
	ended   map[statemachine.LeaseID]struct{}
	line    map[string][]statemachine.LeaseID // who waits for a key, in the order of the log
	owner   map[string]statemachine.LeaseID
	tokens  map[string]token.Token
}

// standing is what the log has said of a request.
type standing struct {
	claims []statemachine.Claim
	waits  bool
	owns   bool
}

func newOracle(g *group) *oracle {
	m := statemachine.New(g.genesis)
	o := &oracle{
		g: g, machine: m, digest: digestOf(m),
		dumps:   map[statemachine.Index]uint64{0: dump(m)},
		batches: map[statemachine.NodeID]statemachine.Applied{},
		stands:  map[statemachine.LeaseID]*standing{},
		ended:   map[statemachine.LeaseID]struct{}{},
		line:    map[string][]statemachine.LeaseID{},
		owner:   map[string]statemachine.LeaseID{},
		tokens:  map[string]token.Token{},
	}
	m.TakeChanges()
	o.digests = append(o.digests, o.digest.sum)
	return o
}

func (o *oracle) fail(kind, format string, args ...any) {
	o.g.w.fail(kind, "group %d, index %d: "+format, append([]any{o.g.id, o.g.end()}, args...)...)
}

// committed checks what the new entry does.
func (o *oracle) committed(b statemachine.Batch) {
	index := o.g.end()
	events := o.machine.Apply(index, b)
	if b.Node == 0 || len(events) > 0 {
		o.g.w.logged += len(b.Commands)
	}
	o.read(b)
	for _, e := range events {
		o.event(e)
	}
	for _, changed := range o.machine.TakeChanges() {
		o.digest.note(changed)
	}
	o.digests = append(o.digests, o.digest.sum)
	if o.whole(index) {
		o.dumps[index] = dump(o.machine)
		o.sound(o.machine)
	}
}

// over: G10, the group has nothing of a request that is over, and never will
// have again.
func (o *oracle) over(c *call) {
	for _, seq := range c.seqs {
		id := statemachine.LeaseID{Node: c.shell.n.id, Incarnation: c.shell.n.incarnation, Seq: seq}
		if stands, has := o.stands[id]; has && (stands.waits || stands.owns) {
			o.fail("G10", "call %d of node %d is over, and the group has %v", c.ref, id.Node, id)
		}
		o.forget(id)
	}
}

// lost: what is said to have ended in the group has ended there.
func (o *oracle) lost(c *call, reason hub.LossReason) {
	if reason == hub.LostWindow || reason == hub.LostLimit {
		return
	}
	if stands := o.stands[c.granted.Lease]; stands != nil && stands.owns {
		o.fail("loss", "call %d of node %d was lost (%d), and the group has %v", c.ref, c.shell.n.id, reason, c.granted.Lease)
	}
}
