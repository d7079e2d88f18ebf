package sim

// pause stops all of a process; its clocks go on: SIGSTOP, a debugger, a full
// run queue, a page fault on a slow disk. What comes meanwhile waits in the
// process's sockets and is worked through when it goes on.
func pause(w *world, s *strike) {
	n := w.nodes[s.node]
	if !n.running {
		return
	}
	w.count["pause"]++
	w.during(s.lasts, func() { n.paused++ }, func() {
		n.paused--
		n.resume()
		n.reconnect()
	})
}
