package sim

import (
	"fmt"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// flights looks at the numbers that a hub uses: each once, one after the
// other, and none but for giving up when the group has not been seen for long.
type flights struct {
	highest   statemachine.BatchNumber // first sent
	settled   statemachine.BatchNumber // seen applied
	settledAt clock.Instant
	sends     map[statemachine.BatchNumber]clock.Instant // of those that are not settled
}

func newFlights(now clock.Instant) flights {
	return flights{settledAt: now, sends: map[statemachine.BatchNumber]clock.Instant{}}
}

// settle notes what was seen applied.
func (f *flights) settle(number statemachine.BatchNumber, now clock.Instant) {
	for n := f.settled + 1; n <= number; n++ {
		delete(f.sends, n)
	}
	f.settled, f.settledAt = max(f.settled, number), now
}

// first says what is wrong with a number that is used for the first time:
// rule 6 of the hub, a node that has lost sight of the group must not go on
// being heard.
func (f *flights) first(b statemachine.Batch, now clock.Instant) (wrong string) {
	if b.Number != f.highest+1 {
		return fmt.Sprintf("batch %d after %d", b.Number, f.highest)
	}
	f.highest = b.Number
	f.sends[b.Number] = now
	for _, c := range b.Commands {
		if batcher.Ending(c) {
			return ""
		}
	}
	oldest := now
	for _, send := range f.sends {
		oldest = min(oldest, send)
	}
	if now.Sub(max(f.settledAt, oldest)) > ttlLong {
		return fmt.Sprintf("batch %d is new, and nothing was seen applied since %v", b.Number, time.Duration(f.settledAt))
	}
	return ""
}
