package admission

import (
	"context"
	"errors"
	"io"

	"github.com/palisade-go/palisade/transport"
)

// network lets frames pass only as the gate allows.
type network struct {
	transport.Network
	gate *Gate
}

// Network returns the network as the engine may use it: a dial waits until
// this node is admitted, and frames that come before are dropped, as are those
// of a peer's earlier starts. Nothing passes once the node has failed. inner is
// the one that the gate's Member has joined.
func (g *Gate) Network(inner transport.Network) transport.Network {
	return &network{Network: inner, gate: g}
}

// Listen implements transport.Network.
func (n *network) Listen(address string, h transport.Handler) (io.Closer, error) {
	return n.Network.Listen(address, &doorkeeper{gate: n.gate, handler: h})
}

// Dial implements transport.Network.
func (n *network) Dial(ctx context.Context, from, to string, kind transport.Kind) (transport.Link, error) {
	select {
	case <-n.gate.admitted:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if n.gate.hasFailed() {
		return nil, errFailed
	}
	link, err := n.Network.Dial(ctx, from, to, kind)
	n.gate.dialled(to, err)
	if err != nil {
		return nil, err
	}
	return &gatedLink{Link: link, gate: n.gate}, nil
}

// gatedLink takes no frames once the node has failed.
type gatedLink struct {
	transport.Link
	gate *Gate
}

// Send implements transport.Link.
func (l *gatedLink) Send(frame []byte) error {
	if l.gate.hasFailed() {
		return errFailed
	}
	return l.Link.Send(frame)
}

// errFailed says that this node has failed; see Gate.Stop.
var errFailed = errors.New("admission: this node takes no part any more")

// doorkeeper stands before what receives frames.
type doorkeeper struct {
	gate    *Gate
	handler transport.Handler
}

// errBlank says that a snapshot came to a node that has not been admitted.
var errBlank = errors.New("admission: this node has not been admitted")

// Receive implements transport.Handler.
func (d *doorkeeper) Receive(from transport.Peer, kind transport.Kind, frame []byte) error {
	if d.gate.hasFailed() {
		return errFailed
	}
	if err := d.gate.current(from); err != nil {
		return err
	}
	switch {
	case d.gate.Admitted():
		return d.handler.Receive(from, kind, frame)
	case kind == transport.Chunks:
		// A part of a snapshot that was dropped would be waited for.
		return errBlank
	}
	return nil
}
