// Package clock is the time that leases are counted in: durations since an
// arbitrary start, never instants of a calendar.
package clock

import "time"

// Instant is a time since an arbitrary start of the clock. Instants of
// different clocks don't compare.
type Instant time.Duration

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Clock tells the time. It never goes back, and it counts the time that the
// machine was suspended where the operating system has such a clock.
type Clock interface {
	Now() Instant
}
