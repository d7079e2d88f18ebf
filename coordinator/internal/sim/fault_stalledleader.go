package sim

// stallLeader has a leader stand still while the others elect another one.
// When it goes on it believes to lead, until the news reach it, which takes a
// while: what it proposes in that time comes to the log.
func stallLeader(w *world, s *strike) {
	g := w.groups[s.group]
	n := g.leader
	if n == nil || !n.running {
		return
	}
	w.count["stalled leader"]++
	r, life := n.replica(g), n.life
	r.office.late++
	w.during(s.lasts, func() { n.paused++; g.elect() }, func() {
		n.paused--
		n.resume()
		n.reconnect()
		w.after(ttlShort, func() {
			if n.life == life {
				r.office.late--
			}
		})
	})
}
