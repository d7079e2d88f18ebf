package sim

// reopenReplica closes one replica and opens it again within the same process,
// with what the disk has: mostly less than it had applied, and then counted.
func reopenReplica(w *world, s *strike) {
	n := w.nodes[s.node]
	if !n.running || n.still() {
		return
	}
	r := n.replica(w.groups[s.group])
	if len(r.disk.unsynced) > 0 {
		w.count["replica reopened"]++
	}
	r.disk.crash()
	r.replace(r.load())
}
