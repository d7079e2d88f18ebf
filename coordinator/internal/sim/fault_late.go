package sim

// delayProposals has many of a node's proposals take up to a TTL to the log:
// they wait in the queue of a link or of a leader that is stuck. Nobody can
// call them back.
func delayProposals(w *world, s *strike) {
	i := &w.nodes[s.node].ills
	w.during(4*s.lasts, func() { i.delaying++ }, func() { i.delaying-- })
}
