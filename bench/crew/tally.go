package crew

import (
	"time"

	"github.com/palisade-go/palisade/bench/measure"
)

// Grant is one acquire that succeeded.
type Grant struct{ Began, Got Instant }

// Tally is what the workers did in the time that counted.
type Tally struct {
	// Pairs were released, and their release confirmed, in that time.
	Pairs   uint64
	Counted time.Duration
	// Acquire and Release are how long the two halves of those pairs took.
	Acquire, Release measure.Histogram
	// Turns are the pairs of each worker.
	Turns []uint64
	// Failures counts failed acquires and releases of patient workers.
	Failures uint64
	// Grants are all that were asked for, also those outside of that time.
	Grants []Grant
}

// Merge adds the tally of another site over the same time.
func (t *Tally) Merge(other Tally) {
	t.Pairs += other.Pairs
	t.Counted = max(t.Counted, other.Counted)
	t.Acquire.Merge(other.Acquire)
	t.Release.Merge(other.Release)
	t.Turns = append(t.Turns, other.Turns...)
	t.Failures += other.Failures
	t.Grants = append(t.Grants, other.Grants...)
}

// Append adds the tally of another time, after this one.
func (t *Tally) Append(other Tally) {
	counted := t.Counted + other.Counted
	t.Merge(other)
	t.Counted = counted
}

// PerSecond returns the pairs of a second.
func (t *Tally) PerSecond() float64 {
	if t.Counted <= 0 {
		return 0
	}
	return float64(t.Pairs) / t.Counted.Seconds()
}
