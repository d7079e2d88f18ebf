package sim

// stallReplica has one replica apply nothing: its disk hangs. The rest of the
// node goes on, and its proposals come to the log. In the end the replica
// applies what it missed.
func stallReplica(w *world, s *strike) {
	r := w.nodes[s.node].replica(w.groups[s.group])
	w.during(s.lasts, func() { r.stalled++ }, func() { r.stalled--; r.catchUp() })
}
