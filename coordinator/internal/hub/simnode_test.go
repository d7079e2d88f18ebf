package hub

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/expiry"
	"github.com/palisade-go/palisade/statemachine"
)

// node is a process with its replica of the group: what the shell around the
// hub and raftnode do, in the smallest form.
type node struct {
	w      *world
	id     statemachine.NodeID
	rate   float64 // of its clock; 1 is true
	offset clock.Instant

	incarnation statemachine.Incarnation
	life        int // tells what was planned for an earlier start
	running     bool
	leaving     bool
	paused      bool
	held        []func() // what came while it was paused
	cut         bool     // nothing comes from it to the group, or back
	stalled     bool     // its replica applies nothing

	machine  *statemachine.Machine
	image    []record // what its disk has
	applying bool     // an apply is planned
	proposer *expiry.Proposer
	known    int // the latest term that it has heard of
	term     int // in which it leads, as far as it knows; 0: none
	barrier  statemachine.Index
	duties   int // tells a planned duty that was replaced

	hub      *Hub
	mail     []func(*Hub, clock.Instant)
	ticks    int // tells a planned tick that was replaced
	heard    clock.Instant
	hasHeard bool
	callers  []*caller
	byRef    map[Ref]*caller
	refs     Ref
	seqs     map[Ref][]statemachine.Seq // of the acquires that were sent
	numbers  statemachine.BatchNumber   // the highest first sent
	settled  clock.Instant              // when a batch was last seen applied
	firsts   map[statemachine.BatchNumber]clock.Instant
}

type record struct{ key, value []byte }

func newNode(w *world, id statemachine.NodeID) *node {
	n := &node{w: w, id: id, rate: 1, offset: clock.Instant(w.between(time.Second, time.Hour))}
	switch w.random.Intn(4) {
	case 0:
		n.rate = 0.95
	case 1:
		n.rate = 1.05
	case 2:
		n.rate = 0.95 + 0.1*w.random.Float64()
	}
	return n
}

func (n *node) String() string {
	s := fmt.Sprintf("node %d.%d running=%v paused=%v cut=%v stalled=%v applied=%d/%d hub: %d requests, in flight%s, %d pending, %d in the mail",
		n.id, n.incarnation, n.running, n.paused, n.cut, n.stalled, n.machine.Meta().Applied, len(n.w.log),
		n.hub.Len(), flights(n.hub), n.hub.batcher.Pending(), len(n.mail))
	for _, c := range n.callers {
		s += fmt.Sprintf("\n  caller %d: phase %d %+v", c.ref, c.phase, c.ask)
	}
	return s
}

// local is what the node's clock shows.
func (n *node) local() clock.Instant { return n.offset + clock.Instant(float64(n.w.now)*n.rate) }

// up says that the process runs, or stands still.
func (n *node) up() bool { return n.running }

// soon plans something for this start of the node. A paused node does it, in
// its turn, when it goes on.
func (n *node) soon(d time.Duration, do func()) {
	life := n.life
	n.w.after(d, func() {
		if life != n.life || !n.running {
			return
		}
		if n.paused {
			n.held = append(n.held, func() { do() })
			return
		}
		do()
	})
}

// at plans something for an instant of the node's clock.
func (n *node) at(instant clock.Instant, do func()) {
	n.soon(time.Duration(float64(instant.Sub(n.local()))/n.rate)+1, do)
}

// start is a new start of the process, with what its disk has.
func (n *node) start() {
	n.incarnation++
	n.life++
	n.running, n.leaving, n.paused, n.applying = true, false, false, false
	n.held, n.mail, n.callers = nil, nil, nil
	n.byRef, n.seqs = map[Ref]*caller{}, map[Ref][]statemachine.Seq{}
	n.firsts = map[statemachine.BatchNumber]clock.Instant{}
	n.known, n.term, n.barrier, n.numbers, n.hasHeard = 0, 0, 0, 0, false
	n.settled = n.local()
	n.machine = n.load(n.image)
	n.proposer = expiry.New(time.Second)
	n.proposer.Reset(n.local(), n.machine)

	cfg := testConfig(batcher.Identity{Node: n.id, Directory: statemachine.DirectoryID{byte(n.id)}, Incarnation: n.incarnation})
	n.hub = New(cfg)
	installed := n.installed()
	if n.w.chance(50) {
		installed()
		n.input(func(h *Hub, now clock.Instant) { h.Start(now) })
	} else {
		n.input(func(h *Hub, now clock.Instant) { h.Start(now) })
		installed()
	}
	n.catchUp()
	if !n.w.quiet {
		for range n.w.random.Intn(4) {
			n.newCaller()
		}
	}
	if w := n.w; w.leader != nil {
		n.led(w.term, w.leader)
	}
}

func (n *node) load(image []record) *statemachine.Machine {
	m, err := statemachine.Load(genesis, func(yield func(key, value []byte) bool) {
		for _, r := range image {
			if !yield(r.key, r.value) {
				return
			}
		}
	})
	require.NoError(n.w.t, err)
	return m
}

func imageOf(m *statemachine.Machine) (image []record) {
	for key, value := range m.Records() {
		image = append(image, record{key, value})
	}
	return image
}

// installed returns the input that tells the hub the machine's state.
func (n *node) installed() func() {
	presence, _ := n.machine.Presence(n.id)
	leases, waits := n.machine.Owned(n.id, presence.Incarnation)
	state := State{Index: n.machine.Meta().Applied, Presence: presence, Leases: leases, Waits: waits}
	return func() {
		n.input(func(h *Hub, now clock.Instant) {
			n.settled = now // lenient: the state may tell of a batch
			h.Installed(state, now)
		})
	}
}

// input puts something into the mailbox of the hub's goroutine, which works
// through it in its own time.
func (n *node) input(do func(*Hub, clock.Instant)) {
	n.mail = append(n.mail, do)
	if len(n.mail) > 1 {
		return
	}
	delay := n.w.between(0, 2*time.Millisecond)
	if !n.w.quiet && n.w.chance(3) {
		delay = n.w.between(0, 2*time.Second)
	}
	n.soon(delay, func() {
		inputs := n.mail
		n.mail = nil
		for _, in := range inputs {
			n.feed(in)
		}
	})
}

// feed is one step of the hub's goroutine.
func (n *node) feed(do func(*Hub, clock.Instant)) {
	now := n.local()
	do(n.hub, now)
	effects := n.hub.Effects()
	for _, lost := range of[Lost](effects) {
		n.byRef[lost.Ref].effect(lost)
	}
	n.heard, n.hasHeard = n.hub.HeardAt()
	for _, e := range effects {
		n.carryOut(e, now)
	}
	n.ticks++
	mine := n.ticks
	if next, ok := n.hub.Next(now); ok {
		n.at(next, func() {
			if mine != n.ticks {
				return
			}
			n.feed(func(h *Hub, now clock.Instant) { h.Tick(now) })
			if next, ok := n.hub.Next(n.local()); ok && next <= n.local() {
				n.w.fail("node %d ticks for ever", n.id)
			}
		})
	}
}

func (n *node) carryOut(e Effect, now clock.Instant) {
	if n.w.verbose {
		n.w.trace("node %d: %s", n.id, (&script{}).effectText(e))
	}
	switch e := e.(type) {
	case Send:
		n.send(e, now)
	case Granted:
		n.byRef[e.Ref].effect(e)
	case Queued:
		n.byRef[e.Ref].effect(e)
	case Refused:
		n.byRef[e.Ref].effect(e)
	case Unavailable:
		n.byRef[e.Ref].effect(e)
	case Over:
		n.byRef[e.Ref].effect(e)
	case Reached:
		n.byRef[e.Ref].effect(e)
	case Lost, Failing, Recovered:
	case Left:
		n.leaving = false
	default:
		n.w.fail("node %d: %T %+v", n.id, e, e)
	}
}

// send carries an attempt to the log, or not, and hints at how it went, right
// or wrong.
func (n *node) send(s Send, now clock.Instant) {
	if s.Attempt == 1 {
		n.first(s, now)
	} else {
		n.w.count["retries"]++
	}
	if n.cut {
		return
	}
	n.w.propose(n, s.Data)
	if !n.w.quiet && n.w.chance(10) {
		n.w.count["hints"]++
		n.soon(n.w.between(0, 500*time.Millisecond), func() {
			n.input(func(h *Hub, now clock.Instant) { h.AttemptFailed(s.Number, s.Attempt, now) })
		})
	}
}

// first checks a number that is used for the first time: rule 6, a node that
// has lost sight of the group must not go on being heard.
func (n *node) first(s Send, now clock.Instant) {
	batch, err := statemachine.DecodeBatch(s.Data)
	require.NoError(n.w.t, err)
	if batch.Number != n.numbers+1 || batch.Number != s.Number {
		n.w.fail("node %d: batch %d after %d", n.id, batch.Number, n.numbers)
	}
	n.numbers = batch.Number
	n.firsts[batch.Number] = now
	ends := false
	for _, c := range batch.Commands {
		ends = ends || batcher.Ending(c)
		n.tally(c)
	}
	if ends {
		return
	}
	oldest := now
	for _, f := range n.hub.batcher.Flights() {
		oldest = min(oldest, n.firsts[f.Number])
	}
	if now.Sub(max(n.settled, oldest)) > ttlLong {
		n.w.fail("node %d uses a new number, and has seen nothing applied since %v", n.id, time.Duration(n.settled))
	}
}

// tally counts what can't be seen from outside.
func (n *node) tally(c statemachine.Command) {
	var seq statemachine.Seq
	switch c := c.(type) {
	case statemachine.Release:
		seq = c.Seq
	case statemachine.Cancel:
		seq = c.Seq
	case statemachine.Acquire:
		r := n.hub.bySeq[c.Seq]
		if r == nil {
			return // it left in the same step
		}
		if n.seqs[r.ref] = append(n.seqs[r.ref], c.Seq); len(n.seqs[r.ref]) > 1 {
			n.w.count["asked again"]++
		}
	}
	if r := n.hub.bySeq[seq]; r != nil && r.late {
		n.w.count["too late"]++
	}
}
