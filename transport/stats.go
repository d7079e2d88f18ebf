package transport

// Stats counts what happened in one direction since the network was made.
// Healing does not reset it.
//
// Once no frame is on its way, Sent + Duplicated = Delivered + Dropped.
type Stats struct {
	Sent       uint64 // frames for which Send returned nil, or is about to
	Delivered  uint64 // calls of Receive, counted just before the call
	Dropped    uint64 // frames and copies that will never arrive, whatever took them
	Duplicated uint64 // second copies made by Duplicate
	Delayed    uint64 // frames that Delay made later

	DialsHeld    uint64 // dials that had to wait because of a black hole
	DialsRefused uint64 // dials that failed because of a cut
	LinksBroken  uint64 // open links that a cut broke
}

// plus returns the sums.
func (s Stats) plus(more Stats) Stats {
	s.Sent += more.Sent
	s.Delivered += more.Delivered
	s.Dropped += more.Dropped
	s.Duplicated += more.Duplicated
	s.Delayed += more.Delayed
	s.DialsHeld += more.DialsHeld
	s.DialsRefused += more.DialsRefused
	s.LinksBroken += more.LinksBroken
	return s
}
