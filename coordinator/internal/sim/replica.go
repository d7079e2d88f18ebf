package sim

import (
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/expiry"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// replica is a node's copy of a group, with what proposes expiries and with
// the hub that listens.
type replica struct {
	n      *node
	g      *group
	random stream

	machine  *statemachine.Machine
	disk     disk
	digest   *digest
	applying bool // an apply is planned
	stalled  int  // strikes that keep it from applying
	proposer *expiry.Proposer
	office   office
	shell    *shell
}

// open starts the replica with what the disk has.
func (r *replica) open() {
	n := r.n
	r.applying, r.office = false, office{}
	r.machine = r.load()
	r.digest = digestOf(r.machine)
	r.proposer = expiry.New(election)
	r.proposer.Reset(n.local(), r.machine)
	r.shell = newShell(r)
	if n.random.chance(50) {
		r.shell.flush() // the state comes after the announcement
		r.shell.schedule()
	}
	r.installed()()
	r.catchUp()
	r.hears()
}

func (r *replica) load() *statemachine.Machine {
	if r.disk.synced == nil {
		m := statemachine.New(r.g.genesis)
		r.disk.replace(m)
	}
	m, err := r.disk.load(r.g.genesis)
	if err != nil {
		panic(fmt.Errorf("node %d, group %d: %w", r.n.id, r.g.id, err))
	}
	return m
}

// installed returns the input that tells the hub the machine's state.
func (r *replica) installed() func() {
	presence, _ := r.machine.Presence(r.n.id)
	leases, waits := r.machine.Owned(r.n.id, presence.Incarnation)
	state := hub.State{Index: r.machine.Meta().Applied, Presence: presence, Leases: leases, Waits: waits}
	s := r.shell
	return func() {
		s.input(func(h *hub.Hub, now clock.Instant) {
			s.sees(presence.Incarnation, presence.Last, now)
			h.Installed(state, now)
		})
	}
}

// behind says that there is something to apply.
func (r *replica) behind() bool { return r.machine.Meta().Applied < r.g.end() }

// catchUp plans the next apply, if there is something.
func (r *replica) catchUp() {
	if r.applying || !r.n.running || !r.behind() {
		return
	}
	r.applying = true
	machine := r.machine
	r.n.arrives(r.n.ills.lag(), func() {
		r.applying = false
		if r.stalled > 0 {
			r.n.w.count["stalled replica"]++
			return // catchUp is called again at the end of that
		}
		if machine != r.machine {
			r.catchUp() // this was planned for another state
			return
		}
		for range 1 + r.random.IntN(8) {
			if r.behind() && r.n.w.failure == nil {
				r.apply()
			}
		}
		r.enter()
		r.catchUp()
	}, func() { r.applying = false })
}

// apply applies the next entry.
func (r *replica) apply() {
	n, w := r.n, r.n.w
	index := r.machine.Meta().Applied + 1
	now, batch := n.local(), r.g.log[index-1]
	events := r.machine.Apply(index, batch)
	changed := r.machine.TakeChanges()
	r.disk.commit(changed)
	for _, c := range changed {
		r.digest.note(c)
	}
	r.g.oracle.replicated(r)
	if batch.Node == 0 || len(events) > 0 {
		w.commands += len(batch.Commands)
	}
	if r.proposer.Observe(now, r.machine, events) {
		r.duty(0)
	}
	if len(events) > 0 {
		r.shell.applied(index, slices.Clone(events))
	}
	if r.random.chance(5) {
		r.disk.sync()
	}
}

// replace makes another state the replica's.
func (r *replica) replace(m *statemachine.Machine) {
	r.machine, r.digest = m, digestOf(m)
	r.g.oracle.replicated(r)
	r.proposer.Reset(r.n.local(), m)
	r.installed()()
	if r.office.term != 0 {
		r.office.asked = false
		r.askBarrier()
	}
	r.catchUp()
}

// install brings the replica up by a snapshot of the one that is furthest,
// and says whether there is one that is ahead.
func (r *replica) install() bool {
	if !r.n.fit() {
		return false
	}
	var from *replica
	for _, n := range r.n.w.nodes {
		if other := n.replica(r.g); n.fit() && other != r && (from == nil || other.machine.Meta().Applied > from.machine.Meta().Applied) {
			from = other
		}
	}
	if from == nil || from.machine.Meta().Applied <= r.machine.Meta().Applied {
		return false
	}
	r.n.w.trace("node %d, group %d: snapshot at %d, it had %d", r.n.id, r.g.id, from.machine.Meta().Applied, r.machine.Meta().Applied)
	r.disk.replace(from.machine)
	r.replace(r.load())
	return true
}
