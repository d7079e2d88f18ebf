package sim

// slowApply has a node's replicas take their time before they apply: a store
// that compacts, a processor that is busy.
func slowApply(w *world, s *strike) {
	i := &w.nodes[s.node].ills
	w.during(4*s.lasts, func() { i.slowApply++ }, func() { i.slowApply-- })
}
