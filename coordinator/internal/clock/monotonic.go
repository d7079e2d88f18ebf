//go:build !linux

package clock

import "time"

// System is the clock of the machine: the runtime's monotonic clock, which
// on most systems stands still while the machine is suspended.
type System struct{}

var start = time.Now()

// Now implements Clock.
func (System) Now() Instant { return Instant(time.Since(start)) }
