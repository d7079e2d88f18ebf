package coordinator

import "time"

const (
	// A group that gives way goes on when everybody who was ready to run has run.
	// Callers who ask for their next thing take some microseconds each; when it took
	// more than giveWayMax and giveWayEach for each of them, the processors are busy
	// with something else, and the group stood behind that.
	giveWayMax  = 20 * time.Millisecond
	giveWayEach = 100 * time.Microsecond
	// giveWayRest is for how many times as long it does not give way then, so that
	// this costs a group a hundredth of its time at most, however busy they are.
	giveWayRest = 100
)

// giveWay says when a group lets the callers whom it has just answered go first, so
// that what they ask for next goes out in one batch.
type giveWay struct{ again time.Time }

// due reports whether to give way to some callers now.
func (w *giveWay) due(callers int, now time.Time) bool {
	return callers > 1 && !now.Before(w.again)
}

// gave notes how long that took.
func (w *giveWay) gave(callers int, began, ended time.Time) {
	if took := ended.Sub(began); took > giveWayMax+time.Duration(callers)*giveWayEach {
		w.again = ended.Add(giveWayRest * took)
	}
}
