package history

import (
	"math"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
)

// Instant is a moment on the clock that all processes of a machine share, in
// nanoseconds.
type Instant int64

// Never is the Return of what may still take effect.
const Never Instant = math.MaxInt64

// Now returns this moment: CLOCK_BOOTTIME on Linux, which is the same for all
// processes of a machine. Instants of several machines do not compare.
func Now() Instant { return Instant(clock.System{}.Now()) }

// since returns how long after start i is; Never is after all.
func (i Instant) since(start Instant) Instant {
	if i == Never {
		return Never
	}
	return i - start
}
