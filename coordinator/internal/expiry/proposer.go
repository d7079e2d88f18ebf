package expiry

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// pollMax is the longest time between two calls of Due in office.
const pollMax = time.Second

// shortest is the least TTL that the pace of the loop follows. A node that
// checks its configuration never asks for so short a lease; one that does not
// must not make every other replica spin.
const shortest = 16 * time.Millisecond

// Proposer is the memory of one replica of one group about who was heard
// from when. The zero value is not usable; see New.
type Proposer struct {
	retry  time.Duration
	marks  map[statemachine.NodeID]*mark
	limits limits

	office   bool
	since    clock.Instant // office was taken
	last     clock.Instant // last call of Due, or the taking of office
	wake     clock.Instant // Plan.Wake of the last Due
	upgraded proposal
}

// mark is what the replica noted of one presence.
type mark struct {
	incarnation statemachine.Incarnation
	batch       statemachine.BatchNumber
	heard       clock.Instant // when this replica applied that batch

	expire statemachine.Expire // the last one proposed, if expired was made
	// expired and swept remember the proposals that are on their way.
	expired, swept proposal
}

// proposal remembers that something was proposed in this office.
type proposal struct {
	made bool
	at   clock.Instant
}

// Plan is what a replica in office should do.
type Plan struct {
	// Batches are the commands to propose, each slice as a log entry of its
	// own: what one Expire or Sweep ends is bounded, and so is an entry.
	Batches [][]statemachine.Command
	// Wake is when to call Due again at the latest. It is later than now.
	Wake clock.Instant
	// Barrier says that the replica stalled and has left office: it must
	// pass a barrier and take office before it may propose again. Batches is
	// empty and Wake has no meaning then.
	Barrier bool
}

// New returns the Proposer of a replica that knows nothing yet. A proposal is
// made again when retry has passed and the state still calls for it. Call
// Reset before anything else.
func New(retry time.Duration) *Proposer {
	return &Proposer{retry: retry, marks: make(map[statemachine.NodeID]*mark)}
}

// Reset starts anew from the state m: after the replica was opened and after
// a snapshot install. Every presence counts as heard now and every limit as
// granted now. It costs O(leases). An office is left; the caller takes it
// again after a barrier.
func (p *Proposer) Reset(now clock.Instant, m *statemachine.Machine) {
	p.LeaveOffice()
	clear(p.marks)
	for _, presence := range m.Presences() {
		p.hear(now, presence.Node, presence.Incarnation, presence.Last)
	}
	p.limits.clear()
	for lease := range m.LimitedLeases() {
		p.limits.add(lease.ID, now.Add(min(lease.Limit, longest)))
	}
}

// Observe notes what a batch did that was applied to m just now; events are
// those of that batch. It has to be called for every batch, in office or not,
// before the next one is applied. It reports whether Due should be called
// before the time that the last Plan named. It costs O(events × log leases
// with limits).
func (p *Proposer) Observe(now clock.Instant, m *statemachine.Machine, events []statemachine.Event) (sooner bool) {
	for _, event := range events {
		switch e := event.(type) {
		case statemachine.Applied:
			sooner = p.applied(now, m, e) || sooner
		case statemachine.Granted:
			sooner = p.granted(now, m, e.Lease) || sooner
		case statemachine.Queued:
			if !p.office {
				continue
			}
			if w, ok := m.Wait(e.Lease); ok {
				sooner = p.paced(now, w.TTL) || sooner
			}
		case statemachine.Ended:
			sooner = p.ended(e) || sooner
		}
	}
	return sooner && p.office
}

// applied notes that a node was heard from. What an incarnation left, when it
// went or was followed by the next, is swept at once.
func (p *Proposer) applied(now clock.Instant, m *statemachine.Machine, e statemachine.Applied) bool {
	before, known := p.marks[e.Node]
	followed := known && before.incarnation != 0 && before.incarnation != e.Incarnation
	p.hear(now, e.Node, e.Incarnation, e.Number)
	presence, ok := m.Presence(e.Node)
	return followed || ok && presence.Left
}

// granted starts the limit of a lease that has one.
func (p *Proposer) granted(now clock.Instant, m *statemachine.Machine, id statemachine.LeaseID) bool {
	lease, ok := m.Lease(id)
	if !ok {
		return false // it ended in the same batch
	}
	if lease.Limit <= 0 {
		return p.paced(now, lease.TTL)
	}
	due := now.Add(min(lease.Limit, longest))
	p.limits.add(id, due)
	return due < p.wake || p.paced(now, lease.TTL)
}

// ended forgets the limit of what has ended. An end that this Proposer asked
// for may have left a rest, which is asked for again at once: the slice took
// effect, so asking again makes progress and can't go round in a circle.
func (p *Proposer) ended(e statemachine.Ended) bool {
	p.limits.remove(e.Lease)
	m, ok := p.marks[e.Lease.Node]
	if !ok {
		return false
	}
	switch {
	case e.Reason == statemachine.EndExpired && m.expired.made:
		m.expired = proposal{}
		return true
	case e.Reason == statemachine.EndSwept && m.swept.made:
		m.swept = proposal{}
		return true
	}
	return false
}

// paced reports whether a request with this TTL asks for an earlier call of
// Due than planned.
func (p *Proposer) paced(now clock.Instant, ttl time.Duration) bool {
	return now.Add(poll(ttl)) < p.wake
}

// TakeOffice notes that this replica leads and has passed a barrier. Nodes
// that could not be heard before get T/2 from now; see deadline.
func (p *Proposer) TakeOffice(now clock.Instant) {
	p.office, p.since, p.last, p.wake = true, now, now, now
	p.upgraded = proposal{}
	for _, m := range p.marks {
		m.expired, m.swept = proposal{}, proposal{}
	}
}

// LeaveOffice notes that this replica no longer leads, or does not know it.
func (p *Proposer) LeaveOffice() { p.office = false }

// InOffice reports whether this replica may propose.
func (p *Proposer) InOffice() bool { return p.office }

// Due returns what to propose now, and remembers it as proposed. Outside
// office it returns the zero Plan. It costs O(presences × distinct TTLs), and
// O(log n) for each limit that is due.
func (p *Proposer) Due(now clock.Instant, m *statemachine.Machine) Plan {
	if !p.office {
		return Plan{}
	}
	presences := m.Presences()
	ttls := make([][]time.Duration, len(presences))
	pace := time.Duration(0)
	for i, presence := range presences {
		ttls[i] = m.TTLs(presence.Node)
		if len(ttls[i]) > 0 && (pace == 0 || ttls[i][0] < pace) {
			pace = ttls[i][0]
		}
	}
	// A loop that stood still may have missed that another replica leads,
	// and the nodes may have been cut off together with it.
	if pace > 0 && now.Sub(p.last) > max(pace, shortest)/4 {
		p.LeaveOffice()
		return Plan{Barrier: true}
	}
	p.last = now

	plan := Plan{Wake: now.Add(poll(pace))}
	if m.UpgradeTo(statemachine.Binary) && p.again(now, &p.upgraded, &plan) {
		plan.Batches = append(plan.Batches, []statemachine.Command{statemachine.Upgrade{Version: statemachine.Binary}})
	}
	for i, presence := range presences {
		p.dueOf(now, m, presence, ttls[i], &plan)
	}
	p.dueLimits(now, m, &plan)
	p.wake = plan.Wake
	return plan
}

// dueOf adds to the plan what is due of one node.
func (p *Proposer) dueOf(now clock.Instant, m *statemachine.Machine, presence statemachine.Presence, ttls []time.Duration, plan *Plan) {
	mk := p.marks[presence.Node]
	if mk == nil || mk.incarnation != presence.Incarnation || mk.batch != presence.Last {
		// The instant that was noted belongs to an older batch. To count
		// from now is late and therefore safe; to name the newer batch with
		// the older instant would end the leases of a node that is alive.
		mk = p.hear(now, presence.Node, presence.Incarnation, presence.Last)
	}
	if m.Leftovers(presence.Node) > 0 && p.again(now, &mk.swept, plan) {
		plan.Batches = append(plan.Batches, []statemachine.Command{statemachine.Sweep{Node: presence.Node}})
	}
	if presence.Left {
		return // all that it has is swept
	}
	due := time.Duration(0)
	for _, ttl := range ttls { // rising, and so are their deadlines
		end := deadline(mk.heard, p.since, ttl)
		if end > now {
			plan.wakeBy(end)
			break
		}
		due = ttl
	}
	if due == 0 {
		return
	}
	expire := statemachine.Expire{Node: presence.Node, Incarnation: mk.incarnation, Last: mk.batch, TTL: due}
	if mk.expire != expire {
		mk.expired = proposal{} // the node was heard, or a larger T fell due
	}
	if p.again(now, &mk.expired, plan) {
		mk.expire = expire
		plan.Batches = append(plan.Batches, []statemachine.Command{expire})
	}
}

// dueLimits adds to the plan the leases whose limit has passed, as many an
// entry as one slice may end.
func (p *Proposer) dueLimits(now clock.Instant, m *statemachine.Machine, plan *Plan) {
	var commands []statemachine.Command
	for {
		id, due, ok := p.limits.first()
		if !ok {
			break
		}
		if due > now {
			plan.wakeBy(due)
			break
		}
		if _, held := m.Lease(id); !held {
			p.limits.remove(id)
			continue
		}
		p.limits.add(id, now.Add(p.retry))
		commands = append(commands, statemachine.ExpireLimit{Lease: id})
		if len(commands) == statemachine.SliceMax {
			plan.Batches = append(plan.Batches, commands)
			commands = nil
		}
	}
	if len(commands) > 0 {
		plan.Batches = append(plan.Batches, commands)
	}
}

// again reports whether something that the state calls for is to be proposed
// now, and remembers it.
func (p *Proposer) again(now clock.Instant, made *proposal, plan *Plan) bool {
	if made.made && now.Sub(made.at) < p.retry {
		plan.wakeBy(made.at.Add(p.retry))
		return false
	}
	*made = proposal{made: true, at: now}
	plan.wakeBy(now.Add(p.retry))
	return true
}

// hear notes a batch of a node.
func (p *Proposer) hear(now clock.Instant, node statemachine.NodeID, incarnation statemachine.Incarnation, batch statemachine.BatchNumber) *mark {
	mk := p.marks[node]
	if mk == nil || mk.incarnation != incarnation {
		mk = &mark{incarnation: incarnation}
		p.marks[node] = mk
	}
	mk.batch, mk.heard = batch, now
	return mk
}

// Heard returns when this replica last heard from a node; false for an unknown
// one.
func (p *Proposer) Heard(node statemachine.NodeID) (clock.Instant, bool) {
	mk := p.marks[node]
	if mk == nil {
		return 0, false
	}
	return mk.heard, true
}

// wakeBy moves the next wake-up to at, if that is earlier.
func (plan *Plan) wakeBy(at clock.Instant) { plan.Wake = min(plan.Wake, at) }

// poll returns the longest pause of the loop while the smallest TTL in the
// group is ttl; 0 means that there is no request.
func poll(ttl time.Duration) time.Duration {
	if ttl <= 0 {
		return pollMax
	}
	return min(max(ttl, shortest)/16, pollMax)
}
