// Package pulse tells whether a loop stands still.
//
// A loop that takes work and never waits inside a turn says when a turn begins
// and ends. Whoever asks, on any goroutine, learns since when the present turn
// has lasted. A loop that waits for work between its turns is at rest, however
// long that takes: nothing is held up by it.
//
// A turn is counted by the runtime's clock, which stands still while the
// machine is suspended: a jump of the other clock must not look like a turn
// that does not end.
package pulse

import (
	"sync/atomic"
	"time"
)

// start is what turns are counted from, so that an instant fits a word.
var start = time.Now()

// Pulse is the pulse of one loop. The zero value is a loop at rest. Begin and
// End are for the loop, which does not overlap itself; Since is for everybody,
// and never blocks.
type Pulse struct {
	// since is when the present turn began, in nanoseconds from start, and at
	// least 1; 0 between turns.
	since atomic.Int64
}

// Begin notes that a turn begins. It costs a look at the clock and a store.
func (p *Pulse) Begin() { p.since.Store(max(1, int64(time.Since(start)))) }

// End notes that the turn has ended.
func (p *Pulse) End() { p.since.Store(0) }

// Since returns when the present turn began; false between turns.
func (p *Pulse) Since() (time.Time, bool) {
	since := p.since.Load()
	if since == 0 {
		return time.Time{}, false
	}
	return start.Add(time.Duration(since)), true
}
