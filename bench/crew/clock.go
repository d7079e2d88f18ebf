package crew

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Instant is a time of the machine's monotonic clock, in nanoseconds. It means
// the same in all processes.
type Instant int64

// Now reads the clock.
func Now() Instant {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(fmt.Sprintf("crew: the monotonic clock: %v", err)) // the kernel always has it
	}
	return Instant(ts.Nano())
}

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns the time from o to i.
func (i Instant) Sub(o Instant) time.Duration { return time.Duration(i - o) }
