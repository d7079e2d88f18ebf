package sim

// slowHub has the goroutines of a node's hubs run late: a garbage collection,
// a run queue that is full. All else of the node goes on.
func slowHub(w *world, s *strike) {
	i := &w.nodes[s.node].ills
	w.during(4*s.lasts, func() { i.slowHub++ }, func() { i.slowHub-- })
}
