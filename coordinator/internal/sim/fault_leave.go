package sim

import (
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
)

// leave ends a process in good order: its callers are told, the groups too,
// and then it stops, whether they have answered or not. Now and then a request
// is on its way to a hub at that moment.
func leave(w *world, s *strike) {
	n := w.nodes[s.node]
	if !n.running || n.still() || n.leaving {
		return
	}
	w.count["leave"]++
	random := newStream(w.seed, "strike", s.number)
	n.leaving = true
	for _, c := range n.clients {
		c.close()
	}
	for _, r := range n.replicas {
		r.shell.input(func(h *hub.Hub, now clock.Instant) { h.Leave(now) })
		if random.chance(50) {
			late := newClient(n, s.number)
			newCall(late, r.shell, hub.Ask{Claims: r.g.claims(late.random, 1), Wait: true, TTL: ttlShort}).close()
		}
	}
	n.timer(random.between(0, 2*time.Second), func() { n.stop(s.lasts) })
}
