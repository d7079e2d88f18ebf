package placement

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// What it takes to wish for the leadership of a group. Times are in election
// timeouts.
const (
	Window   = 1
	Windows  = 3
	Least    = 20
	Share    = 0.75
	Pause    = 30
	PauseMax = 30 * 64
)

// Step is what the shell has to do next.
type Step uint8

// The steps.
const (
	Nothing Step = iota
	Hold         // send no batch until Until, but for what a lease needs
	Ask          // ask the leader to hand over to this node, and hold as before
	Resume       // send batches again
)

// phase is how far a try has come.
type phase uint8

const (
	counting phase = iota
	holding        // until the group is quiet
	asked          // until a leader shows
)

// Candidate counts the requests of one group and says when this node should try to
// lead it.
type Candidate struct {
	self     statemachine.NodeID
	election time.Duration

	begin     clock.Instant // of the window
	mine, all int           // requests served in it
	streak    int           // windows in a row, up to the last one, with this node ahead

	phase     phase
	quiet     clock.Instant // when the last entry was applied, or the try began
	until     clock.Instant // when the phase ends in any case
	notBefore clock.Instant
	pause     time.Duration // after the next try that fails
}

// New returns the Candidate of a node. election is the election timeout.
func New(self statemachine.NodeID, election time.Duration) *Candidate {
	return &Candidate{self: self, election: election, pause: Pause * election}
}

// Entry takes the events of an entry that was applied.
func (c *Candidate) Entry(events []statemachine.Event, now clock.Instant) {
	c.roll(now)
	c.quiet = now
	for _, e := range events {
		switch e := e.(type) {
		case statemachine.Granted:
			c.count(e.Lease.Node)
		case statemachine.Refused:
			c.count(e.Node)
		}
	}
}

// count counts a request that was served.
func (c *Candidate) count(node statemachine.NodeID) {
	c.all++
	if node == c.self {
		c.mine++
	}
}

// Look says what to do. leader is who leads the group, 0 for nobody; settled says
// that this node has nothing in flight there; fit, that it would be a good leader,
// and is called only where that matters.
func (c *Candidate) Look(now clock.Instant, leader statemachine.NodeID, settled bool, fit func() bool) Step {
	c.roll(now)
	if leader == c.self {
		c.led(now)
	}
	switch {
	case leader == c.self || leader == 0:
		return c.leave(now, leader)
	case c.phase == counting && (c.streak < Windows || now < c.notBefore):
		return Nothing
	case !fit():
		return c.leave(now, leader)
	case c.phase == counting:
		c.phase, c.quiet, c.until = holding, now, now.Add(c.election/10)
		return Hold
	case c.phase == holding && settled && now >= c.quietAt():
		c.phase, c.until = asked, now.Add(c.election/10)
		return Ask
	case now >= c.until:
		return c.fail(now)
	}
	return Nothing
}

// Until returns how long to hold, after Hold and Ask.
func (c *Candidate) Until() clock.Instant { return c.until }

// led is for a group that this node leads. What it asked for may have taken longer
// than it has waited: then it has not failed.
func (c *Candidate) led(now clock.Instant) {
	c.pause = Pause * c.election
	rest := now.Add(c.pause)
	if c.phase == counting {
		rest = min(rest, c.notBefore)
	}
	c.notBefore = rest
}

// leave is for a group that this node leads, or should not lead.
func (c *Candidate) leave(now clock.Instant, leader statemachine.NodeID) Step {
	c.streak = 0
	switch {
	case c.phase == counting || leader == 0 && now < c.until:
		return Nothing
	case leader == c.self:
		c.phase = counting
		return Resume
	}
	return c.fail(now)
}

// fail ends a try that came to nothing.
func (c *Candidate) fail(now clock.Instant) Step {
	c.phase, c.streak = counting, 0
	c.notBefore = now.Add(c.pause)
	c.pause = min(2*c.pause, PauseMax*c.election)
	return Resume
}

// roll ends a window that is over, and begins the next one. Where requests come
// there are looks all the time: if the last one was that long ago that another
// window would have passed, then in that one there was nothing.
func (c *Candidate) roll(now clock.Instant) {
	age := now.Sub(c.begin)
	if age < Window*c.election {
		return
	}
	if age < 2*Window*c.election && c.all >= Least && float64(c.mine) >= Share*float64(c.all) {
		c.streak++
	} else {
		c.streak = 0
	}
	c.begin, c.mine, c.all = now, 0, 0
}

func (c *Candidate) quietAt() clock.Instant { return c.quiet.Add(c.election / 50) }

// Next returns when Look is wanted again, if no entry comes before; false: not
// before the next one.
func (c *Candidate) Next(now clock.Instant) (clock.Instant, bool) {
	switch quiet := c.quietAt(); {
	case c.phase == counting:
		return 0, false
	case c.phase == holding && quiet > now:
		return min(quiet, c.until), true
	}
	return c.until, true
}
