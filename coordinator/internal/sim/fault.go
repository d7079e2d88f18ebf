package sim

import "time"

// fault is one thing that goes wrong in reality.
type fault struct {
	name   string
	weight int // how often it is drawn, against the others
	strike func(w *world, s *strike)
}

// faults are all faults. Each is counted under its name when it has had an
// effect; a default run fails when one had none.
var faults = []fault{
	{"pause", 3, pause},
	{"suspension", 2, suspend},
	{"deaf node", 2, cutInbound},
	{"mute node", 2, cutOutbound},
	{"cut node", 2, cutBoth},
	{"lost proposals", 4, loseProposals},
	{"late proposals", 4, delayProposals},
	{"doubled proposals", 3, doubleProposals},
	{"reordered proposals", 3, reorderProposals},
	{"lost answers", 4, loseAnswers},
	{"election", 4, callElection},
	{"run of elections", 2, runOfElections},
	{"no leader", 2, leaderless},
	{"stalled leader", 3, stallLeader},
	{"slow apply", 3, slowApply},
	{"stalled replica", 3, stallReplica},
	{"slow hub", 3, slowHub},
	{"held batches", 3, holdBatches},
	{"snapshot install", 4, installSnapshot},
	{"crash", 3, crash},
	{"replica reopened", 2, reopenReplica},
	{"leave", 2, leave},
	{"clock speed", 3, changeClockSpeed},
	{"wall clock jump", 3, jumpWallClock},
}

// during has a fault last: begin now, and end after some time, or when the
// world is healed.
func (w *world) during(lasts time.Duration, begin, end func()) {
	begin()
	ended := false
	once := func() {
		if !ended {
			ended = true
			end()
		}
	}
	w.after(lasts, once)
	w.lasting = append(w.lasting, once)
}

// counts says how often things happened. What never happened was not tested.
type counts map[string]int

// add adds what happened elsewhere.
func (c counts) add(other counts) {
	for what, n := range other {
		c[what] += n
	}
}
