package sim

import "time"

// runOfElections has a group change its leader again and again, faster than
// any TTL: links that flap, an election timeout that is too short.
func runOfElections(w *world, s *strike) {
	g := w.groups[s.group]
	var again func()
	ends := false
	w.during(4*s.lasts, func() {
		again = func() {
			if !ends {
				w.count["run of elections"]++
				g.elect()
				w.after(g.random.between(200*time.Millisecond, 2*time.Second), again)
			}
		}
		again()
	}, func() { ends = true })
}
