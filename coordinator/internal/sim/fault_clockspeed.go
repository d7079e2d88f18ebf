package sim

// changeClockSpeed has a node's clock go faster or slower, by as much as it may
// be off at most: a bad crystal, a time service that slews.
func changeClockSpeed(w *world, s *strike) {
	n, r := w.nodes[s.node], newStream(w.seed, "strike", s.number)
	most := float64(w.clockError) / 100
	off := most * (2*r.Float64() - 1)
	switch r.IntN(3) {
	case 0:
		off = -most
	case 1:
		off = most
	}
	w.count["clock speed"]++
	n.watch.adjust(w.now, 1+off)
}
