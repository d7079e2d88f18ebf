package sim

import "time"

// jumpWallClock sets a node's wall clock, forward or back, by up to a year.
// It is counted when a batch has carried it into the log.
func jumpWallClock(w *world, s *strike) {
	const year = 365 * 24 * time.Hour
	w.nodes[s.node].watch.wall = int64(newStream(w.seed, "strike", s.number).between(-year, year))
}
