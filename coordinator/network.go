package coordinator

import (
	"context"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/admission"
	"github.com/palisade-go/palisade/coordinator/internal/identity"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// protocol is what this version speaks inside of frames. A change that an
// older node can't read gets another number.
var protocol = transport.Versions{Lowest: 1, Highest: 1}

// checkListen refuses a port that this node can't have, before anything is
// made. If somebody else takes it between this and the engine's start, Open
// fails then, and the start is counted.
func (c *Coordinator) checkListen(ctx context.Context) error {
	if c.env.Network != nil || len(c.cfg.Peers) == 1 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, transport.DefaultHandshake)
	defer cancel()
	err := transport.CheckListen(ctx, c.cfg.Listen)
	if err == nil {
		return nil
	}
	// The same node may run already: then it has the directory too.
	return inOneLine([]error{fmt.Errorf("field Listen: %w", err), identity.CheckFree(c.cfg.Dir)})
}

// greetAgain is how often a peer that said yes is asked again. It costs a
// handshake, and makes Status tell who is reached.
const greetAgain = 10 * time.Second

// openNetwork returns what the engine sends with: a private network for a
// single node, and otherwise the one of the process behind the gate.
func (c *Coordinator) openNetwork() (transport.Network, error) {
	if len(c.cfg.Peers) == 1 {
		alone := transport.NewMemory(0)
		c.network = alone
		return alone.Join(transport.Member{Self: c.hello()})
	}
	addresses := map[statemachine.NodeID]string{}
	for node, address := range c.cfg.Peers {
		addresses[statemachine.NodeID(node)] = address
	}
	c.gate = admission.New(admission.Config{
		Self: c.hello(), Addresses: addresses, Peers: c.identity.Peers,
		Retry: c.cfg.ElectionTimeout / 4, Again: greetAgain, Logger: c.cfg.Logger,
		Explain: func(r *transport.RefusedError) error { return c.refusal(r) },
		Fail:    func(r *transport.RefusedError) { c.fail(c.refusal(r)) },
	})
	var err error
	if c.joined, err = c.join(c.gate.Member()); err != nil {
		return nil, err
	}
	return c.gate.Network(c.joined), nil
}

// greet begins what the gate does in the background.
func (c *Coordinator) greet() {
	ctx, cancel := context.WithCancel(context.Background())
	greeted := make(chan struct{})
	go func() {
		defer close(greeted)
		c.gate.Run(ctx, c.joined)
	}()
	c.endGreeting = func() {
		cancel()
		<-greeted
	}
}

// join makes this node a member of the process's network: the test kit's, or
// one over TCP.
func (c *Coordinator) join(member transport.Member) (transport.Network, error) {
	if c.env.Network != nil {
		return c.env.Network(member)
	}
	network, err := transport.NewTCP(transport.TCPConfig{
		Member: member, TLS: c.cfg.TLS, ClusterName: c.cfg.Cluster, Logger: c.cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	c.network = network
	return network, nil
}

// hello is what this node says of itself.
func (c *Coordinator) hello() transport.Hello {
	id := c.identity
	return transport.Hello{
		Cluster: id.Certificate.Sum(), Born: id.Certificate.Born(), Node: uint64(id.Node),
		Directory: id.Directory, Incarnation: uint64(id.Incarnation), Start: id.Start, Protocol: protocol,
	}
}

// listen returns where this node listens: in memory the address of a node is
// the one that its peers know.
func (c *Coordinator) listen() string {
	if c.env.Network != nil || len(c.cfg.Peers) == 1 {
		return c.cfg.Peers[c.cfg.NodeID]
	}
	return c.cfg.Listen
}
