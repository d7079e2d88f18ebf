package sim

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
)

// watch is a node's clock. It goes at its own rate, which may change, never
// goes back, and counts the time that the node stood still. The wall clock
// beside it may be set.
type watch struct {
	base  clock.Instant // what it showed at since
	since time.Duration // in true time
	rate  float64       // 1 is true
	wall  int64         // nanoseconds that the wall clock is ahead of true time
}

// at returns what the clock shows at a true time.
func (c *watch) at(now time.Duration) clock.Instant {
	return c.base + clock.Instant(float64(now-c.since)*c.rate)
}

// adjust has it go at another rate from now on.
func (c *watch) adjust(now time.Duration, rate float64) {
	c.base, c.since, c.rate = c.at(now), now, rate
}

// lasts returns how long a duration of this clock is in true time, rounded up.
func (c *watch) lasts(d time.Duration) time.Duration { return time.Duration(float64(d)/c.rate) + 1 }
