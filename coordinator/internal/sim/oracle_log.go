package sim

import (
	"slices"

	"github.com/palisade-go/palisade/statemachine"
)

// read notes what the requests of a batch claim.
func (o *oracle) read(b statemachine.Batch) {
	for _, c := range b.Commands {
		if a, ok := c.(statemachine.Acquire); ok {
			id := statemachine.LeaseID{Node: b.Node, Incarnation: b.Incarnation, Seq: a.Seq}
			if o.stands[id] == nil {
				o.stands[id] = &standing{claims: a.Claims}
			}
		}
	}
}

// event checks one thing that the machine said.
func (o *oracle) event(e statemachine.Event) {
	switch e := e.(type) {
	case statemachine.Applied:
		o.applied(e)
	case statemachine.Queued:
		o.queued(e)
	case statemachine.Granted:
		o.granted(e)
	case statemachine.Refused:
		o.forget(statemachine.LeaseID{Node: e.Node, Incarnation: e.Incarnation, Seq: e.Seq})
	case statemachine.Ended:
		o.ends(e)
	}
}

// applied: G9, a batch takes effect once, and none after a later one.
func (o *oracle) applied(e statemachine.Applied) {
	last := o.batches[e.Node]
	if e.Incarnation < last.Incarnation || e.Incarnation == last.Incarnation && e.Number <= last.Number {
		o.fail("G9", "%+v was applied after %+v", e, last)
	}
	o.batches[e.Node] = e
}

// known returns what the log has said of a request: G9, nothing of one that
// was over.
func (o *oracle) known(id statemachine.LeaseID, what string) *standing {
	if _, over := o.ended[id]; over || o.stands[id] == nil {
		o.fail("G9", "%v is %s: over before: %v", id, what, over)
		return &standing{}
	}
	return o.stands[id]
}

// queued: a request takes its place once, and before it owns.
func (o *oracle) queued(e statemachine.Queued) {
	s := o.known(e.Lease, "queued")
	if s.waits || s.owns {
		o.fail("G9", "%v is queued, and was %+v", e.Lease, *s)
	}
	s.waits = true
	for _, c := range s.claims {
		o.line[c.Key] = append(o.line[c.Key], e.Lease)
	}
}

// granted: G1, nobody else owns any of the keys, nor trusts that it does; G2,
// the token is above all before it; G7, nobody is ahead in any of the lines.
func (o *oracle) granted(e statemachine.Granted) {
	o.g.w.count["grants"]++
	s := o.known(e.Lease, "granted")
	if s.owns {
		o.fail("G9", "%v is granted twice", e.Lease)
	}
	for _, c := range s.claims {
		if other, owned := o.owner[c.Key]; owned {
			o.fail("G1", "%v is granted %s, which %v owns", e.Lease, c.Key, other)
		}
		if e.Token <= o.tokens[c.Key] {
			o.fail("G2", "token %d for key %s, after %d", e.Token, c.Key, o.tokens[c.Key])
		}
		if line := o.line[c.Key]; len(line) > 0 && line[0] != e.Lease {
			o.fail("G7", "%v is granted %s, and %v is ahead", e.Lease, c.Key, line[0])
		}
		if other := o.g.w.owners.trusting(c.Key); other != nil {
			o.fail("G3", "%v is granted %s, which call %d of node %d trusts", e.Lease, c.Key, other.ref, other.shell.n.id)
		}
		o.owner[c.Key], o.tokens[c.Key] = e.Lease, e.Token
	}
	if s.waits {
		o.g.w.count["turns"]++
	}
	o.leaveLine(e.Lease, s)
	s.owns = true
}

// ends: G3, nothing ends while its owner trusts it, but by its own hand.
func (o *oracle) ends(e statemachine.Ended) {
	s := o.known(e.Lease, "ended")
	if s.waits != e.Waiting || s.owns == e.Waiting {
		o.fail("end", "%+v, and it was %+v", e, *s)
	}
	o.g.w.count[e.Reason.String()]++
	for _, c := range s.claims {
		if s.owns && o.owner[c.Key] == e.Lease {
			delete(o.owner, c.Key)
		}
		if owner := o.g.w.owners.trusting(c.Key); s.owns && owner != nil && owner.granted.Lease == e.Lease {
			o.fail("G3", "%v ended (%v) while its owner trusts it", e.Lease, e.Reason)
		}
	}
	o.leaveLine(e.Lease, s)
	o.forget(e.Lease)
}

// leaveLine takes a request out of the lines that it stands in.
func (o *oracle) leaveLine(id statemachine.LeaseID, s *standing) {
	if !s.waits {
		return
	}
	s.waits = false
	for _, c := range s.claims {
		line := o.line[c.Key]
		if i := slices.Index(line, id); i >= 0 {
			line = slices.Delete(line, i, i+1)
		}
		if o.line[c.Key] = line; len(line) == 0 {
			delete(o.line, c.Key)
		}
	}
}

// forget notes that a request is over.
func (o *oracle) forget(id statemachine.LeaseID) {
	delete(o.stands, id)
	o.ended[id] = struct{}{}
}
