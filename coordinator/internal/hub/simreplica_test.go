package hub

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// catchUp plans the next apply of the replica, if there is something.
func (n *node) catchUp() {
	if n.applying || !n.running || int(n.machine.Meta().Applied) == len(n.w.log) {
		return
	}
	n.applying = true
	lag := n.w.between(0, 10*time.Millisecond)
	if !n.w.quiet && n.w.chance(5) {
		lag = n.w.between(0, 2*time.Second)
	}
	n.soon(lag, func() {
		n.applying = false
		if n.cut || n.stalled {
			return // catchUp is called again at the end of that
		}
		for range 1 + n.w.random.Intn(8) {
			if int(n.machine.Meta().Applied) < len(n.w.log) {
				n.apply()
			}
		}
		n.enter()
		n.catchUp()
	})
}

// apply applies the next entry.
func (n *node) apply() {
	index := n.machine.Meta().Applied + 1
	now := n.local()
	events := n.machine.Apply(index, n.w.log[index-1])
	n.w.oracle.replicated(n)
	if n.proposer.Observe(now, n.machine, events) {
		n.duty(0)
	}
	if len(events) > 0 {
		n.input(func(h *Hub, now clock.Instant) {
			if slices.ContainsFunc(events, func(e statemachine.Event) bool {
				applied, ok := e.(statemachine.Applied)
				return ok && applied.Node == n.id && applied.Incarnation == n.incarnation
			}) {
				n.settled = now
			}
			h.Applied(index, slices.Clone(events), now)
		})
	}
	if n.w.chance(5) {
		n.image = imageOf(n.machine) // a sync of the store
	}
}

// replace makes another state the replica's.
func (n *node) replace(m *statemachine.Machine) {
	n.machine = m
	n.w.oracle.replicated(n)
	n.proposer.Reset(n.local(), m)
	n.installed()()
	n.enter()
	n.catchUp()
}

// install brings the replica up by a snapshot of another one.
func (n *node) install() {
	if !n.running || n.paused || n.cut {
		return
	}
	from := n.w.oracle.machine
	if other := n.w.nodes[n.w.random.Intn(len(n.w.nodes))]; other.running {
		from = other.machine
	}
	if from.Meta().Applied <= n.machine.Meta().Applied {
		return
	}
	n.w.count["installs"]++
	n.w.trace("node %d installs a snapshot at %d, it had %d", n.id, from.Meta().Applied, n.machine.Meta().Applied)
	n.replace(n.load(imageOf(from)))
}

// recover brings a replica up that fell behind, by a snapshot or the log.
func (n *node) recover() {
	if n.w.chance(70) {
		n.install()
	}
	n.catchUp()
}

// reopen opens the replica again, within the same process, with what the disk
// has.
func (n *node) reopen() {
	if !n.running || n.paused {
		return
	}
	n.w.count["reopens"]++
	n.w.trace("node %d opens its replica again", n.id)
	n.replace(n.load(n.image))
}

// led tells the node who leads, sooner or later.
func (n *node) led(term int, leader *node) {
	delay := n.w.between(0, 100*time.Millisecond)
	if !n.w.quiet && n.w.chance(20) {
		delay = n.w.between(0, 3*time.Second)
	}
	n.soon(delay, func() {
		if term < n.known {
			return // it has heard of a later one
		}
		n.known = term
		n.input(func(h *Hub, now clock.Instant) { h.LeaderChanged(now) })
		if leader != n {
			n.term = 0
			n.proposer.LeaveOffice()
			return
		}
		n.term = term
		n.barrier = statemachine.Index(len(n.w.log))
		n.enter()
	})
}

// enter takes office, once the replica has passed the barrier.
func (n *node) enter() {
	if n.term == 0 || n.term != n.w.term || n.w.leader != n || n.proposer.InOffice() || n.machine.Meta().Applied < n.barrier {
		return
	}
	n.w.count["offices"]++
	n.proposer.TakeOffice(n.local())
	n.duty(0)
}

// duty plans to do what a replica in office has to do.
func (n *node) duty(in time.Duration) {
	n.duties++
	mine := n.duties
	n.soon(in, func() {
		if mine != n.duties || !n.proposer.InOffice() {
			return
		}
		now := n.local()
		plan := n.proposer.Due(now, n.machine)
		if plan.Barrier {
			n.barrier = statemachine.Index(len(n.w.log))
			n.enter()
			return
		}
		for _, commands := range plan.Batches {
			data, err := statemachine.AppendBatch(nil, statemachine.Batch{Commands: commands})
			require.NoError(n.w.t, err)
			n.w.trace("node %d proposes %+v", n.id, commands)
			n.w.propose(n, data)
		}
		n.duty(time.Duration(float64(plan.Wake.Sub(now))/n.rate) + 1)
	})
}

// pause stops everything of the node; its clock goes on.
func (n *node) pause(lasts time.Duration) {
	if !n.running || n.paused {
		return
	}
	n.w.count["pauses"]++
	n.w.trace("node %d stands still for %v", n.id, lasts)
	n.paused = true
	life := n.life
	n.w.after(lasts, func() {
		if n.life == life {
			n.resume()
		}
	})
}

func (n *node) resume() {
	n.paused = false
	for len(n.held) > 0 && !n.paused {
		do := n.held[0]
		n.held = n.held[1:]
		do()
	}
}

// kill ends the process; it starts again later.
func (n *node) kill(lasts time.Duration) {
	if !n.running {
		return
	}
	n.w.count["kills"]++
	n.w.trace("node %d is killed for %v", n.id, lasts)
	n.running = false
	n.life++
	if w := n.w; w.leader == n {
		w.depose()
		w.after(w.between(time.Second, 2*time.Second), func() {
			if w.leader == nil {
				w.elect()
			}
		})
	}
	life := n.life
	n.w.after(lasts, func() {
		if n.life == life {
			n.start()
		}
	})
}

// leave ends the process in good order.
func (n *node) leave(lasts time.Duration) {
	if !n.running || n.paused || n.leaving {
		return
	}
	n.w.count["leaves"]++
	n.w.trace("node %d leaves", n.id)
	n.leaving = true
	for _, c := range n.callers {
		c.close()
	}
	n.input(func(h *Hub, now clock.Instant) { h.Leave(now) })
	if n.w.chance(50) {
		// A request that was on its way to the hub when the node left.
		c := n.ask(Ask{Claims: claims([]string{"a"}), Wait: true, TTL: ttlShort})
		c.close()
	}
	n.soon(n.w.between(0, 2*time.Second), func() { n.kill(lasts) })
}

// retire lets the callers end what they do, and ask for nothing more.
func (n *node) retire() {
	for _, c := range slices.Clone(n.callers) {
		c.retire()
	}
}

// busy says that something of this node is not settled.
func (n *node) busy() bool {
	if !n.running || n.hub.Len() > 0 || len(n.hub.batcher.Flights()) > 0 || n.hub.batcher.Pending() > 0 || len(n.mail) > 0 {
		return true
	}
	return slices.ContainsFunc(n.callers, func(c *caller) bool { return !c.phase.final() })
}
