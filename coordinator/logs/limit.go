package logs

import "time"

// limit counts the lines of one kind in the present minute.
type limit struct {
	since   time.Time // when the minute began
	lines   int       // in that minute
	leftOut int       // since the last line that passed
}

// pass reports whether a line may be written at a time, with at most so many a
// minute, and how many were left out before it.
func (l *limit) pass(at time.Time, most int) (ok bool, leftOut int) {
	if at.Sub(l.since) >= time.Minute || at.Before(l.since) { // the wall clock may go back
		l.since, l.lines = at, 0
	}
	if l.lines >= most {
		l.leftOut++
		return false, 0
	}
	l.lines++
	leftOut, l.leftOut = l.leftOut, 0
	return true, leftOut
}
