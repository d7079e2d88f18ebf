package sim

// crash ends a process at once. It starts again with an older image, because
// what its stores had not synced is gone, and applies the log from there. It
// is counted when something was.
func crash(w *world, s *strike) {
	n := w.nodes[s.node]
	if !n.running {
		return
	}
	for _, r := range n.replicas {
		if len(r.disk.unsynced) > 0 {
			w.count["crash"]++
		}
	}
	n.stop(s.lasts)
}
