package sim

// suspend suspends a machine: a laptop's lid, a VM that is paused by a
// hypervisor which tells the guest. Its clock goes on. Its timers stand still
// for as long and come late; whatever is sent to it meanwhile is lost.
func suspend(w *world, s *strike) {
	n := w.nodes[s.node]
	if !n.running {
		return
	}
	w.count["suspension"]++
	w.during(s.lasts, func() {
		if n.asleep == 0 {
			n.sleepsSince = w.now
		}
		n.asleep++
	}, func() {
		if n.asleep == 1 {
			n.slept = n.sleptBy()
		}
		n.asleep--
		n.resume()
		n.reconnect()
	})
}
