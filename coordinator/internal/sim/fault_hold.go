package sim

import (
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
)

// holdBatches keeps what a node asks of a group from being sent for a moment, as
// its shell does before it asks to lead the group, and after.
func holdBatches(w *world, s *strike) {
	n := w.nodes[s.node]
	if !n.running {
		return
	}
	shell := n.replicas[s.group].shell
	shell.input(func(h *hub.Hub, now clock.Instant) {
		if h.Len() > 0 {
			w.count["held batches"]++
		}
		h.Hold(now.Add(election / 5))
	})
}
