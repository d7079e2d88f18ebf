package locktest

import (
	"sync"
	"testing"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
)

// Clock is what a node counts its windows and deadlines with: the machine's
// clock, scaled and shifted. It never goes back. It goes on counting while its
// node is stopped. All methods are safe for concurrent use and return at once.
//
// A node that sleeps notices a change only when it wakes, as after a
// suspension of the machine: within a sixteenth of the shortest TTL in use, a
// second at most. Questions to a lease notice it at once.
type Clock struct {
	t testing.TB

	mu     sync.Mutex
	from   clock.Instant // of the machine's clock, when base was set
	base   time.Duration // what this clock showed then
	rate   float64
	frozen bool
	shift  time.Duration // of the wall clock
}

func newClock(t testing.TB) *Clock {
	return &Clock{t: t, from: clock.System{}.Now(), base: time.Hour, rate: 1}
}

// Elapsed returns what the clock shows: the time since an arbitrary start.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

func (c *Clock) nowLocked() time.Duration {
	if c.frozen {
		return c.base
	}
	return c.base + time.Duration(float64(clock.System{}.Now().Sub(c.from))*c.rate)
}

// rebaseLocked makes what the clock shows now the point that it goes on from.
func (c *Clock) rebaseLocked() {
	now := c.nowLocked()
	c.from, c.base = clock.System{}.Now(), max(c.base, now)
}

// Advance moves the clock forward by d, as a suspension of the machine does.
// It fails the test if d is negative: these clocks never go back.
func (c *Clock) Advance(d time.Duration) {
	c.t.Helper()
	if d < 0 {
		c.t.Fatalf("locktest: Advance(%v): a clock does not go back", d)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base += d
}

// SetRate makes the clock run at rate times the machine's from now on. 1.05 is
// the fastest and 0.95 the slowest that the guarantees allow for. It fails the
// test if rate is not above zero; Freeze stops a clock.
func (c *Clock) SetRate(rate float64) {
	c.t.Helper()
	if !(rate > 0) {
		c.t.Fatalf("locktest: SetRate(%v): a rate is above zero", rate)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rebaseLocked()
	c.rate = rate
}

// Freeze stops the clock: the node believes that no time passes, as in a pause
// that its clocks do not count. It neither renews nor loses anything by the
// clock meanwhile, and asks nothing again because it got no answer in time.
//
// That is beyond what the guarantees allow for, as is a rate more than 5 % off:
// a holder on such a clock trusts its lease while another owns the key (G3 does
// not hold), and a guard alone keeps it out. Package history would call that a
// violation; its documentation says how such a test is checked.
func (c *Clock) Freeze() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rebaseLocked()
	c.frozen = true
}

// Thaw lets a frozen clock run on from where it stopped. Advance makes it
// count the pause after all.
func (c *Clock) Thaw() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rebaseLocked()
	c.frozen = false
}

// ShiftWall moves the node's wall clock by d, forward or back. It is another
// clock: it is shown to others, as the time of a Holder for instance, and
// nothing is counted with it.
func (c *Clock) ShiftWall(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shift += d
}

// wall returns what the node's wall clock shows.
func (c *Clock) wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.shift)
}

// nodeClock is the Clock as a node sees it.
type nodeClock struct{ *Clock }

// Now implements clock.Clock.
func (c nodeClock) Now() clock.Instant { return clock.Instant(c.Elapsed()) }
