package sim

// reorderProposals has a node's proposals overtake each other, as they do when
// several are under way and one is forwarded by another path.
func reorderProposals(w *world, s *strike) {
	i := &w.nodes[s.node].ills
	w.during(4*s.lasts, func() { i.reordering++ }, func() { i.reordering-- })
}
