package sim

import (
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// peace says what must come true once the world is healed: everyone who waits
// gets its turn, then all is given back, and nothing is left.
func (w *world) peace() {
	if w.failure != nil {
		return
	}
	bound := w.turnBound()
	for _, n := range w.nodes {
		for _, c := range n.clients {
			c.calm()
		}
	}
	if !w.until(bound, func() bool { return w.waiting() == 0 }) {
		w.fail("progress", "%d wait %v after the last fault: %v", w.waiting(), bound, w)
		return
	}
	if !w.until(bound, w.rests) {
		w.fail("rest", "not at rest %v after the last turn: %v", bound, w)
		return
	}
	w.leavesNothing()
}

// undisturbed says that nothing has gone wrong for long: what was late has come,
// and all that a fault could have ended by its delay has ended. From now on
// nobody may lose a lease or a place that is renewed.
func (w *world) undisturbed() bool { return w.quiet && w.now > w.healed+2*longest }

// turnBound is how long the last in line may have to wait for its turn once
// nothing goes wrong any longer.
//
// G6: the dead are let go within 2*T and one election, and a replica that was
// restarted or caught up by a snapshot can add 2*T. The leader that decides may
// be such a one. A node may have lost sight of the group and use no new
// numbers for up to T, and its last attempts may be late by as much. Then
// every request ahead in line takes its hold, and the way of its release to
// the group and of the grant to the next, each with a turn of the shell at
// both ends, two seconds in all. At most all who wait or hold are ahead, and
// each has as many turns as its client asks groups.
func (w *world) turnBound() time.Duration {
	turns := 0
	for _, n := range w.nodes {
		for _, c := range n.clients {
			if c.busy() {
				turns += len(c.want)
			}
		}
	}
	const dead = 4*ttlLong + 2*ttlLong + 2*election
	return dead + time.Duration(turns)*(w.setting.hold.most+2*time.Second)
}

// waiting is how many clients have asked and were not answered.
func (w *world) waiting() int {
	waiting := 0
	for _, n := range w.nodes {
		for _, c := range n.clients {
			if c.busy() && c.has < len(c.want) && !c.backs {
				waiting++
			}
		}
	}
	return waiting
}

// rests says that nobody has anything, and all know it.
func (w *world) rests() bool {
	for _, n := range w.nodes {
		for _, c := range n.clients {
			if c.busy() {
				return false
			}
		}
		for _, r := range n.replicas {
			s := r.shell
			if r.behind() || len(s.mail) > 0 || s.hub.Len() > 0 || s.wakes() {
				return false
			}
		}
	}
	for _, g := range w.groups {
		if g.oracle.machine.Stats() != (statemachine.Stats{}) {
			return false
		}
	}
	return true
}

// leavesNothing looks at what may not be left when all is at rest.
func (w *world) leavesNothing() {
	for _, g := range w.groups {
		o := g.oracle
		if len(o.line) > 0 || len(o.owner) > 0 {
			o.fail("rest", "the log leaves %v waiting and %v owned", o.line, o.owner)
		}
		for _, n := range w.nodes {
			r := n.replica(g)
			o.sound(r.machine)
			if dump(r.machine) != dump(o.machine) {
				o.fail("determinism", "node %d differs in the end", n.id)
			}
			if len(r.shell.marks) > 0 || len(r.shell.calls) > 0 && !n.leaving {
				o.fail("rest", "node %d has %d marks and %d calls open", n.id, len(r.shell.marks), len(r.shell.calls))
			}
		}
	}
	if len(w.owners.byKey) > 0 || len(w.owners.contested) > 0 {
		w.fail("rest", "%d keys have owners in the end", len(w.owners.byKey))
	}
}
