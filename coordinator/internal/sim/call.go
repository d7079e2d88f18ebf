package sim

import (
	"strconv"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/coordinator/internal/keeper"
	"github.com/palisade-go/palisade/statemachine"
)

// phase is where a call is, as its caller knows.
type phase int

const (
	asked phase = iota
	queued
	holds
	given  // its caller has left, or has given the lease back; Over follows
	lost   // Over follows
	failed // Over follows
	over
	refused
)

// call is one request to one group, from the asking until the group has
// nothing of it.
type call struct {
	client  *client
	shell   *shell
	ref     hub.Ref
	ask     hub.Ask
	seqs    []statemachine.Seq // of the acquires that were sent for it
	phase   phase
	granted hub.Granted
	// taken says that the hub has taken the Cancel, and when.
	taken   bool
	takenAt time.Duration
}

// newCall asks a group.
func newCall(c *client, s *shell, ask hub.Ask) *call {
	n := s.n
	n.refs++
	ca := &call{client: c, shell: s, ref: n.refs, ask: ask}
	ca.ask.Metadata = strconv.FormatUint(uint64(ca.ref), 10)
	s.calls[ca.ref] = ca
	s.input(func(h *hub.Hub, now clock.Instant) { h.Acquire(ca.ref, ca.ask, now) })
	return ca
}

// refOf reads the call's ref out of the metadata of its request.
func refOf(metadata string) hub.Ref {
	ref, _ := strconv.ParseUint(metadata, 10, 64)
	return hub.Ref(ref)
}

// open says that the caller waits for an answer.
func (c *call) open() bool { return c.phase == asked || c.phase == queued }

// final says that the group has nothing of it.
func (c *call) final() bool { return c.phase == over || c.phase == refused }

// trusts says that the caller takes itself for the owner: what Held returns.
func (c *call) trusts() bool {
	s := c.shell
	if c.phase != holds || !s.n.running {
		return false
	}
	now := s.n.local()
	return s.hasHeard && now < s.heard.Add(keeper.Window(c.ask.TTL)) &&
		(c.granted.LimitEnd == 0 || now < c.granted.LimitEnd)
}

// move is the only way from phase to phase.
func (c *call) move(to phase) {
	w := c.shell.n.w
	if c.phase == holds && to != holds {
		w.owners.remove(c)
	}
	c.phase = to
	if to == holds {
		w.owners.add(c)
	}
}

// giveBack ends the wait, or the hold. One who holds asks first whether it
// still is the owner.
func (c *call) giveBack() {
	switch {
	case c.open(), c.phase == holds && c.trusts():
		c.move(given)
		c.shell.n.w.count["withdrawn"]++
		c.shell.input(func(h *hub.Hub, now clock.Instant) {
			c.taken, c.takenAt = true, c.shell.n.w.now
			h.Cancel(c.ref, now)
		})
	case c.phase == holds:
		c.move(lost)
		c.shell.input(func(h *hub.Hub, now clock.Instant) { h.Distrust(c.ref, now) })
	}
}

// close ends the call because the node goes: its caller is told, and nothing
// is expected any longer.
func (c *call) close() {
	if !c.final() {
		c.move(over)
	}
}

// wrong says that the hub may not tell that here.
func (c *call) wrong(e hub.Effect) {
	n := c.shell.n
	n.w.fail("effects", "node %d, group %d, call %d in phase %d: %T %+v", n.id, c.shell.r.g.id, c.ref, c.phase, e, e)
}

// effect is what the caller is told.
func (c *call) effect(e hub.Effect) {
	n, w, oracle := c.shell.n, c.shell.n.w, c.shell.r.g.oracle
	if n.leaving && c.final() {
		return // it was told that the node goes
	}
	// What crosses a Cancel on its way to the hub is told as if there were none.
	crossing := c.phase == given && !c.taken
	// What was over before the Cancel counts is told in the same step.
	late := c.phase == given && c.takenAt == w.now
	switch e := e.(type) {
	case hub.Queued:
		if !c.open() && !crossing {
			c.wrong(e)
		}
		if c.open() {
			w.count["queued"]++
			c.move(queued)
		}
	case hub.Granted:
		c.take(e, crossing)
	case hub.Refused:
		if !c.open() && !crossing {
			c.wrong(e)
		}
		w.count["refused"]++
		oracle.over(c)
		c.end(refused)
	case hub.Unavailable:
		if !c.open() && !crossing && !late {
			c.wrong(e)
		}
		w.count["unavailable"]++
		if w.undisturbed() && !n.leaving {
			w.fail("peace", "node %d, call %d: its place is not trusted any longer", n.id, c.ref)
		}
		c.move(failed)
		c.client.fails()
	case hub.Lost:
		if c.phase != holds && c.phase != lost && !crossing && !late {
			c.wrong(e)
		}
		w.count["losses"]++
		if byClock := e.Reason == hub.LostWindow || e.Reason == hub.LostLimit; byClock && c.trusts() {
			w.fail("loss", "node %d, call %d is lost (%d), and its window is open", n.id, c.ref, e.Reason)
		}
		if w.undisturbed() && e.Reason != hub.LostLimit {
			w.fail("peace", "node %d, call %d: its lease is lost (%d)", n.id, c.ref, e.Reason)
		}
		oracle.lost(c, e.Reason)
		c.move(lost)
		c.client.loses()
	case hub.Over:
		if c.phase != lost && c.phase != failed && !(c.phase == given && c.taken) {
			c.wrong(e)
		}
		oracle.over(c)
		c.end(over)
	}
}

// take is the moment in which the caller becomes the owner.
func (c *call) take(e hub.Granted, crossing bool) {
	n := c.shell.n
	if !c.open() && !crossing || e.Lease.Incarnation != n.incarnation {
		c.wrong(e)
	}
	if !c.open() {
		return // the Cancel is on its way
	}
	n.w.count["held"]++
	c.granted = e
	c.move(holds)
	if !c.trusts() {
		n.w.fail("G3", "node %d, group %d, call %d: granted when its window is over", n.id, c.shell.r.g.id, c.ref)
	}
	c.client.gets()
}

func (c *call) end(to phase) {
	c.move(to)
	for _, seq := range c.seqs {
		delete(c.shell.bySeq, seq)
	}
	delete(c.shell.calls, c.ref)
	c.client.settles()
}
