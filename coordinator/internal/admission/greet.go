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

// Run greets all peers, opens the gate once each has said yes, and goes on to
// greet them now and then, so that Standings tell how things are, and a node
// that should not run learns it also from a peer that it has nothing to say
// to. It returns when ctx ends or a peer has refused this node for ever. inner
// is the network that the Member has joined.
//
// A peer that says no is asked again all the same: most reasons pass, like an
// address that is about to be corrected.
func (g *Gate) Run(ctx context.Context, inner transport.Network) {
	var first, greeting sync.WaitGroup
	for node := range g.peers {
		first.Add(1)
		greeting.Add(1)
		go func() {
			defer greeting.Done()
			agreed := sync.OnceFunc(first.Done)
			defer agreed() // or the wait for all would never end
			g.greet(ctx, inner, node, agreed)
		}()
	}
	first.Wait()
	if ctx.Err() == nil && !g.hasFailed() && !g.Admitted() {
		g.open(ctx)
	}
	greeting.Wait()
}

// open notes that every peer has let this node in, and opens the gate.
func (g *Gate) open(ctx context.Context) {
	for {
		err := g.cfg.Peers.Admit()
		if err == nil {
			g.cfg.Logger.Info("every peer has let this node in")
			close(g.admitted)
			return
		}
		g.cfg.Logger.Error("that this node was let in can't be written down", "err", err)
		if !g.pause(ctx, g.cfg.Retry) {
			return
		}
	}
}

// greet dials one peer again and again, and tells of each yes.
func (g *Gate) greet(ctx context.Context, inner transport.Network, node statemachine.NodeID, agreed func()) {
	self, to := g.cfg.Addresses[statemachine.NodeID(g.cfg.Self.Node)], g.cfg.Addresses[node]
	for {
		bounded, cancel := context.WithTimeout(ctx, greetMax)
		link, err := inner.Dial(bounded, self, to, transport.Messages)
		cancel()
		g.dialled(to, err)
		pause := g.cfg.Retry
		if err == nil {
			// Nothing is sent over it; the next dial finds the way again.
			_ = link.Close()
			agreed()
			pause = g.cfg.Again
		}
		if !g.pause(ctx, pause) {
			return
		}
	}
}

// pause waits; false: it is over.
func (g *Gate) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-g.failed:
	case <-ctx.Done():
	}
	return false
}
