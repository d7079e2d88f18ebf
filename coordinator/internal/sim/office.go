package sim

import (
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// office is where a replica stands as a leader: what it knows of who leads,
// and the barrier that it has to pass. When it may propose, and what, the
// expiry proposer knows.
type office struct {
	known   int // the latest term that it has heard of
	term    int // in which it leads, as far as it knows; 0: none
	barrier statemachine.Index
	asked   bool // the barrier was given
	duties  int  // tells a planned duty that was replaced
	late    int  // strikes that keep the news away
}

// hears has the replica hear who leads, sooner or later.
func (r *replica) hears() {
	g := r.g
	if g.leader == nil || !r.n.running {
		return
	}
	term, leader := g.term, g.leader
	delay := r.random.between(0, 100*time.Millisecond)
	if r.office.late > 0 && !r.n.w.quiet {
		delay += r.random.between(0, 5*time.Second)
	}
	r.n.arrives(delay, func() {
		o := &r.office
		if term <= o.known {
			return // it has heard of this one, or of a later one
		}
		o.known = term
		r.shell.leaderChanged()
		o.term, o.asked = 0, false
		r.proposer.LeaveOffice()
		if leader == r.n {
			o.term = term
			r.askBarrier()
		}
	}, func() {})
}

// askBarrier asks the group for a barrier, until it is given or another leads.
// It is given only to the one who leads at that moment.
func (r *replica) askBarrier() {
	o, term := &r.office, r.office.term
	if term == r.g.term && r.g.leader == r.n && r.n.fit() {
		o.barrier, o.asked = r.g.end(), true
		r.enter()
		return
	}
	r.n.timer(election/10, func() {
		if o.term == term && !o.asked {
			r.askBarrier()
		}
	})
}

// enter takes office, once the replica has passed the barrier.
func (r *replica) enter() {
	o := &r.office
	if o.term == 0 || !o.asked || r.proposer.InOffice() || r.machine.Meta().Applied < o.barrier {
		return
	}
	r.n.w.count["offices"]++
	r.proposer.TakeOffice(r.n.local())
	r.duty(0)
}

// duty plans to do what a replica in office has to do.
func (r *replica) duty(in time.Duration) {
	o := &r.office
	o.duties++
	mine, shell := o.duties, r.shell
	r.n.timer(in, func() {
		if shell != r.shell || mine != o.duties || !r.proposer.InOffice() {
			return
		}
		now := r.n.local()
		plan := r.proposer.Due(now, r.machine)
		if plan.Barrier {
			r.n.w.count["offices taken anew"]++
			o.asked = false
			r.askBarrier()
			return
		}
		for _, commands := range plan.Batches {
			data, err := statemachine.AppendBatch(nil, statemachine.Batch{Commands: commands})
			if err != nil {
				r.n.w.fail("encoding", "%v", err)
				return
			}
			r.n.w.trace("node %d, group %d proposes %+v", r.n.id, r.g.id, commands)
			r.g.propose(r.n, data, func() {})
		}
		r.duty(r.n.watch.lasts(plan.Wake.Sub(now)))
	})
}
