package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// System is the clock of the machine: CLOCK_BOOTTIME on Linux, which goes on
// while the machine is suspended, unlike the runtime's monotonic clock.
type System struct{}

// Now implements Clock.
func (System) Now() Instant {
	var ts unix.Timespec
	// The call can only fail for a clock id that the kernel does not know;
	// CLOCK_BOOTTIME is there since Linux 2.6.39, older than Go supports.
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		panic("clock: CLOCK_BOOTTIME: " + err.Error())
	}
	return Instant(ts.Nano()) * Instant(time.Nanosecond)
}
