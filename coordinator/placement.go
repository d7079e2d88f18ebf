package coordinator

import (
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/placement"
)

// stand lets this node try to lead the group when the group serves it most. It is
// called when all inputs have been handled, and before what waits is sent.
func (g *group) stand(now clock.Instant) {
	if g.candidate == nil {
		return
	}
	g.following.Lock()
	leader := g.following.leader
	g.following.Unlock()
	switch g.candidate.Look(now, leader, g.hub.Settled(), g.fit) {
	case placement.Hold:
		g.hub.Hold(g.candidate.Until())
	case placement.Ask:
		g.hub.Hold(g.candidate.Until())
		// The engine takes it as a wish; what came of it is seen from who leads.
		_ = g.lead()
	case placement.Resume:
		g.hub.Hold(0)
	}
}

// place gives the groups of a cluster with several nodes what they need to stand.
func (c *Coordinator) place(g *group) {
	if len(c.cfg.Peers) == 1 || c.env.LeadersStay {
		return
	}
	g.candidate = placement.New(c.identity.Node, c.cfg.ElectionTimeout)
	g.lead = func() error { return c.node.Transfer(g.id, c.identity.Node) }
	g.fit = func() bool { return c.acceptsNew() == nil }
}
