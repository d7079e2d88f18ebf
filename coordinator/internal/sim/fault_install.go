package sim

// installSnapshot has one replica fall behind and then be brought up by a
// snapshot of another one, so that nobody ever tells its hub of the entries
// between. It is counted when the hub had something in the group.
func installSnapshot(w *world, s *strike) {
	r := w.nodes[s.node].replica(w.groups[s.group])
	w.during(s.lasts, func() { r.stalled++ }, func() {
		r.stalled--
		if had := r.n.running && r.shell.hub.Len() > 0; r.install() && had {
			w.count["snapshot install"]++
		}
		r.catchUp()
	})
}
