package sim

// leaderless keeps a group from having a leader: no majority, or votes that
// are split again and again.
func leaderless(w *world, s *strike) {
	g := w.groups[s.group]
	if g.leader != nil {
		w.count["no leader"]++
	}
	w.during(s.lasts, func() { g.vacant++; g.leader = nil }, func() { g.vacant-- })
}
