package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/coordinator"
)

// Peer opens clusters of the bare engine.
type Peer struct{}

// Name implements peer.Peer.
func (Peer) Name() string { return "engine" }

// Version implements peer.Peer.
func (Peer) Version() string { return "as go.mod requires it" }

// Missing implements peer.Peer: the engine is compiled in.
func (Peer) Missing() string { return "" }

// cluster is three nodes.
type cluster struct {
	ports *member.Ports
	nodes [peer.Members]*member.Process
}

// Open implements peer.Peer.
func (Peer) Open(ctx context.Context, s peer.Setup) (peer.Cluster, error) {
	ports, err := member.TakePorts(peer.Members)
	if err != nil {
		return nil, err
	}
	c := &cluster{ports: ports}
	if err := c.open(ctx, s); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *cluster) open(ctx context.Context, s peer.Setup) error {
	start := Start{Addresses: map[uint64]string{}, Groups: s.Groups}
	if start.Groups == 0 {
		start.Groups = coordinator.DefaultGroups
	}
	for i := range c.nodes {
		start.Addresses[uint64(i+1)] = c.ports.Address(i)
	}
	for i := range c.nodes {
		name := fmt.Sprintf("engine%d", i+1)
		process, err := member.StartRole(s.Dir, name, Role)
		if err != nil {
			return err
		}
		c.nodes[i] = process
		start.Dir, start.Replica = filepath.Join(s.Dir, name), uint64(i+1)
		if err := process.Call(ctx, "Open", start, &member.Nothing{}); err != nil {
			return err
		}
	}
	for _, process := range c.nodes {
		if err := process.Call(ctx, "WaitReady", member.Nothing{}, &member.Nothing{}); err != nil {
			return err
		}
	}
	return nil
}

// Sites implements peer.Cluster.
func (c *cluster) Sites() []peer.Site {
	var sites []peer.Site
	for _, p := range c.nodes {
		sites = append(sites, p.Site())
	}
	return sites
}

// Processes implements peer.Cluster.
func (c *cluster) Processes() []int { return member.Pids(c.nodes[:]) }

// Close implements peer.Cluster.
func (c *cluster) Close() error {
	defer c.ports.Free()
	return member.StopAll(c.nodes[:], syscall.SIGTERM)
}
