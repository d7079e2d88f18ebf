package sim

// cutInbound lets nothing come to a node; what it sends arrives. A firewall
// rule of one direction, a full receive queue.
func cutInbound(w *world, s *strike) {
	n := w.nodes[s.node]
	w.during(s.lasts, func() { n.cutIn++ }, func() { n.cutIn--; n.reconnect() })
}

// cutOutbound lets nothing of a node arrive; it hears the others.
func cutOutbound(w *world, s *strike) {
	n := w.nodes[s.node]
	w.during(s.lasts, func() { n.cutOut++ }, func() { n.cutOut--; n.reconnect() })
}

// cutBoth cuts a node off: a cable, a switch.
func cutBoth(w *world, s *strike) {
	cutInbound(w, s)
	cutOutbound(w, s)
}
