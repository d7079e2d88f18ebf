package admission

import (
	"context"
	"sync"
	"time"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// greetMax bounds one greeting.
const greetMax = 5 * time.Second

// Run greets all peers until each has said yes, then opens the gate. It
// returns then, at once if the gate is open, or when ctx ends. inner is the
// network that the Member has joined.
//
// A peer that says no is asked again all the same: most reasons pass, like an
// address that is about to be corrected.
func (g *Gate) Run(ctx context.Context, inner transport.Network) {
	if g.Admitted() {
		return
	}
	var greeting sync.WaitGroup
	for node := range g.peers {
		greeting.Add(1)
		go func() {
			defer greeting.Done()
			g.greet(ctx, inner, node)
		}()
	}
	greeting.Wait()
	retry := time.NewTicker(g.cfg.Retry)
	defer retry.Stop()
	for ctx.Err() == nil {
		err := g.cfg.Peers.Admit()
		if err == nil {
			g.cfg.Logger.Info("every peer has let this node in")
			close(g.admitted)
			return
		}
		g.cfg.Logger.Error("that this node was let in can't be written down", "err", err)
		select {
		case <-retry.C:
		case <-ctx.Done():
		}
	}
}

// greet dials one peer until it says yes or ctx ends.
func (g *Gate) greet(ctx context.Context, inner transport.Network, node statemachine.NodeID) {
	self, to := g.cfg.Addresses[statemachine.NodeID(g.cfg.Self.Node)], g.cfg.Addresses[node]
	retry := time.NewTicker(g.cfg.Retry)
	defer retry.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, greetMax)
		link, err := inner.Dial(bounded, self, to, transport.Messages)
		cancel()
		if ctx.Err() == nil {
			g.dialled(to, err)
		}
		if err == nil {
			// Nothing is sent over it; the next dial finds the way again.
			_ = link.Close()
			return
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return
		}
	}
}
