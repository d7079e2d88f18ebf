package raftnode

import "time"

const (
	// offerPause is how long a leadership that nobody took is kept before it
	// is offered again, in election timeouts: the engine goes on with an offer
	// for one of them, and drops proposals meanwhile.
	offerPause = 2
	// offerPauseMax bounds the pause, which doubles each time the leadership
	// comes back. The others may be short of disk space as well: then it would
	// go round all the time, and nobody could propose anything.
	offerPauseMax = time.Minute
)

// offer is the handing over of one group's leadership by a node that should
// not lead, for as long as it should not.
//
//	leads --offered--> leads: nobody took it; offered again after the pause
//	                   does not lead --> leads: it came back; the pause doubles
type offer struct {
	succession
	at    time.Time // of the last one; zero: there was none
	pause time.Duration
	taken bool // since then another member led, or nobody
}

// due reports whether the leadership is to be offered now. attempt is the first
// pause.
func (o *offer) due(now time.Time, leads bool, attempt time.Duration) bool {
	switch {
	case !leads:
		o.taken = !o.at.IsZero()
		return false
	case o.at.IsZero():
		o.pause = attempt
	case now.Sub(o.at) < o.pause:
		return false
	case o.taken:
		o.pause = min(2*o.pause, max(offerPauseMax, attempt))
	}
	o.at, o.taken = now, false
	return true
}
