package sim

// loseProposals loses half of a node's proposals on their way: dropped by a
// full queue, by a leader that steps down, by a link that breaks.
func loseProposals(w *world, s *strike) {
	i := &w.nodes[s.node].ills
	w.during(4*s.lasts, func() { i.losing++ }, func() { i.losing-- })
}
