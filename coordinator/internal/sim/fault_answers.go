package sim

// loseAnswers has a node told of half of its attempts that they failed,
// whatever came of them: the answer of the leader was lost.
func loseAnswers(w *world, s *strike) {
	i := &w.nodes[s.node].ills
	w.during(4*s.lasts, func() { i.unanswered++ }, func() { i.unanswered-- })
}
