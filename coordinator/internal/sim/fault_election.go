package sim

// callElection has a group change its leader at once: a transfer, or a
// follower that was too impatient.
func callElection(w *world, s *strike) {
	g := w.groups[s.group]
	before := g.leader
	if g.elect(); g.leader != nil && g.leader != before {
		w.count["election"]++
	}
}
