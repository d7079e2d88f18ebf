package hub

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/keeper"
	"github.com/palisade-go/palisade/statemachine"
)

// callerPhase is where a call is, as its caller knows.
type callerPhase int

const (
	callerAsked callerPhase = iota
	callerQueued
	callerHolds
	callerGone // it has left, or given the lease back; Over follows
	callerLost // Over follows
	callerFailed
	callerOver
	callerRefused
	callerMarks // waits for a Mark
	callerReached
)

func (p callerPhase) final() bool {
	return p == callerOver || p == callerRefused || p == callerReached
}

// caller is one acquire of a goroutine of the program, or one Mark.
type caller struct {
	n       *node
	ref     Ref
	ask     Ask
	phase   callerPhase
	granted Granted
	// cancels is how many Cancels and Releases the hub has taken, each of
	// which may say Over.
	cancels   int
	cancelled time.Duration // when the hub took the last one
	loops     bool          // asks for something else when this is over
	retired   bool
	mark      statemachine.BatchNumber // what a Mark waits for
}

// newCaller starts a goroutine that asks for one thing after the other.
func (n *node) newCaller() {
	n.soon(n.w.between(0, time.Second), func() {
		if n.w.quiet || n.leaving {
			return
		}
		if n.w.chance(10) {
			n.newMark()
			return
		}
		c := n.ask(n.w.drawAsk())
		c.loops = true
		if n.w.chance(60) {
			n.soon(n.w.between(0, 15*time.Second), func() {
				if c.phase == callerAsked || c.phase == callerQueued {
					c.cancel()
				}
			})
		}
	})
}

func (w *world) drawAsk() Ask {
	keys := []string{"a", "b", "c"}[w.random.Intn(3):]
	if w.chance(70) {
		keys = keys[:1]
	}
	ask := Ask{Claims: claims(keys[:min(len(keys), 2)]), Wait: w.chance(75), TTL: ttlShort}
	if w.chance(50) {
		ask.TTL = ttlLong
	}
	if w.chance(30) {
		ask.Limit = limitShort
		if w.chance(50) {
			ask.Limit = limitLong
		}
	}
	if w.chance(20) {
		ask.QueueMax = 2
	}
	return ask
}

// ask makes a call of the shell.
func (n *node) ask(ask Ask) *caller {
	n.refs++
	c := &caller{n: n, ref: n.refs, ask: ask}
	n.callers = append(n.callers, c)
	n.byRef[c.ref] = c
	n.input(func(h *Hub, now clock.Instant) { h.Acquire(c.ref, ask, now) })
	return c
}

func (n *node) newMark() {
	n.refs++
	c := &caller{n: n, ref: n.refs, phase: callerMarks, loops: true}
	n.callers = append(n.callers, c)
	n.byRef[c.ref] = c
	n.input(func(h *Hub, now clock.Instant) {
		c.mark = h.batcher.Next()
		h.Mark(c.ref, now)
	})
}

// trusts says that the caller takes itself for the owner: what Held returns.
func (c *caller) trusts() bool {
	if c.phase != callerHolds || !c.n.running {
		return false
	}
	now := c.n.local()
	return c.n.hasHeard && now < c.n.heard.Add(keeper.Window(c.ask.TTL)) &&
		(c.granted.LimitEnd == 0 || now < c.granted.LimitEnd)
}

// cancel is the caller's end of the wait, or its Release.
func (c *caller) cancel() {
	c.phase = callerGone
	c.n.w.count["withdrawn"]++
	c.n.input(func(h *Hub, now clock.Instant) {
		c.cancels, c.cancelled = c.cancels+1, c.n.w.now
		h.Cancel(c.ref, now)
	})
}

// finish ends a hold: the caller asks first whether it still is the owner.
func (c *caller) finish() {
	switch {
	case c.phase != callerHolds:
	case c.trusts():
		c.cancel()
	default:
		c.phase = callerLost
		c.n.input(func(h *Hub, now clock.Instant) { h.Distrust(c.ref, now) })
	}
}

// close ends the call because the node goes: its caller is told, and nothing
// is expected any longer.
func (c *caller) close() {
	c.loops = false
	if !c.phase.final() {
		c.phase = callerOver
		c.cancels = 100
	}
}

func (c *caller) retire() {
	c.retired, c.loops = true, false
	c.finish()
}

// effect is what the shell is told about this call.
func (c *caller) effect(e Effect) {
	w := c.n.w
	wrong := func() { w.fail("node %d, caller %d in phase %d: %T %+v", c.n.id, c.ref, c.phase, e, e) }
	if c.n.leaving && c.phase.final() {
		return // it was told that the node goes
	}
	open := c.phase == callerAsked || c.phase == callerQueued
	// What was over before the Cancel counts is told in the same step.
	crossing := c.phase == callerGone && (c.cancels == 0 || c.cancelled == w.now)
	switch e := e.(type) {
	case Queued:
		if !open && (c.phase != callerGone || c.cancels > 0) {
			wrong()
		}
		if open {
			c.phase = callerQueued
			w.count["queued"]++
		}
	case Granted:
		c.take(e, open, wrong)
	case Refused:
		if !open && (c.phase != callerGone || c.cancels > 0) {
			wrong()
		}
		w.oracle.over(c)
		w.count["refused"]++
		c.over(callerRefused)
	case Unavailable:
		if !open && !crossing {
			wrong()
		}
		w.count["unavailable"]++
		c.phase = callerFailed
	case Lost:
		if c.phase != callerHolds && c.phase != callerLost && !crossing {
			wrong()
		}
		w.oracle.lost(c, e.Reason)
		w.count["losses"]++
		c.phase = callerLost
	case Over:
		again := c.phase.final() && c.cancels > 0 // a Cancel of what was over already
		ends := c.phase == callerLost || c.phase == callerFailed || c.phase == callerGone && c.cancels > 0
		if !again && !ends {
			wrong()
		}
		if ends {
			w.oracle.over(c)
			c.over(callerOver)
		}
	case Reached:
		last := w.oracle.batches[c.n.id]
		if c.phase != callerMarks || last.Incarnation != c.n.incarnation || last.Number < c.mark {
			wrong()
		}
		w.count["reached"]++
		c.over(callerReached)
	}
}

// take is the moment in which the caller becomes the owner.
func (c *caller) take(e Granted, open bool, wrong func()) {
	w := c.n.w
	if !open && (c.phase != callerGone || c.cancels > 0) || e.Lease.Incarnation != c.n.incarnation {
		wrong()
	}
	if !open {
		return // the Cancel is on its way
	}
	c.granted, c.phase = e, callerHolds
	w.count["held"]++
	if !c.trusts() {
		w.fail("node %d, caller %d: granted when its window is over", c.n.id, c.ref)
	}
	switch {
	case c.retired:
		c.finish()
	case c.loops && w.chance(80):
		c.n.soon(w.between(0, 8*time.Second), c.finish)
	}
}

// over ends the call, and the goroutine asks for something else.
func (c *caller) over(phase callerPhase) {
	c.phase = phase
	if c.loops {
		c.loops = false
		c.n.newCaller()
	}
}
