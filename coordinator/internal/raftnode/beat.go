package raftnode

import "time"

// beats are the grids in time on which a loop that only has a look once in a while
// wakes up, the widest first. What wakes a process that sleeps costs many times
// what such a look does; on a grid the looks of all groups come together.
var beats = [...]time.Duration{time.Second, 250 * time.Millisecond}

// firstBeat is what beats are counted from. All nodes of a process share it.
var firstBeat = time.Now()

// onBeat shortens a wait that begins now so that it ends on a beat: on one of the
// widest grid that the wait is not shorter than. A wait that is shorter than all
// of them stays as it is.
func onBeat(now time.Time, wait time.Duration) time.Duration {
	for _, beat := range beats {
		if wait >= beat {
			return wait - (now.Sub(firstBeat)+wait)%beat
		}
	}
	return wait
}
