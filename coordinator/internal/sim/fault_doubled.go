package sim

// doubleProposals has half of a node's proposals come to the log twice, as
// they do when an engine sends again what it takes for lost.
func doubleProposals(w *world, s *strike) {
	i := &w.nodes[s.node].ills
	w.during(4*s.lasts, func() { i.doubling++ }, func() { i.doubling-- })
}
