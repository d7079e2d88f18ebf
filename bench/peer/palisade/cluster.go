package palisade

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/coordinator"
)

// Cluster is three nodes.
type Cluster struct {
	dir    string
	groups int
	ports  *member.Ports
	nodes  [peer.Members]*member.Process
}

// Peer opens clusters of this library.
type Peer struct{}

// Name implements peer.Peer.
func (Peer) Name() string { return "palisade" }

// Version implements peer.Peer.
func (Peer) Version() string { return "this checkout" }

// Missing implements peer.Peer: nothing is needed.
func (Peer) Missing() string { return "" }

// DefaultGroups implements peer.Grouped.
func (Peer) DefaultGroups() int { return coordinator.DefaultGroups }

// Open implements peer.Peer.
func (Peer) Open(ctx context.Context, s peer.Setup) (peer.Cluster, error) { return Open(ctx, s) }

// Open starts three nodes and waits until they are ready.
func Open(ctx context.Context, s peer.Setup) (*Cluster, error) {
	ports, err := member.TakePorts(peer.Members)
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: s.Dir, groups: s.Groups, ports: ports}
	for i := range c.nodes {
		if err := c.start(ctx, i); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	for i := range c.nodes {
		if err := c.waitReady(ctx, i, &Ready{}); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// start starts a node's process and opens the node.
func (c *Cluster) start(ctx context.Context, i int) error {
	name := fmt.Sprintf("node%d", i+1)
	dir := filepath.Join(c.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	process, err := member.StartRole(c.dir, name, Role)
	if err != nil {
		return err
	}
	c.nodes[i] = process
	start := Start{Dir: dir, NodeID: nodeID(i), Peers: map[coordinator.NodeID]string{}, Groups: c.groups}
	for j := range c.nodes {
		start.Peers[nodeID(j)] = c.ports.Address(j)
	}
	return process.Call(ctx, "Open", start, &member.Nothing{})
}

func (c *Cluster) waitReady(ctx context.Context, i int, seen *Ready) error {
	return c.nodes[i].Call(ctx, "WaitReady", member.Nothing{}, seen)
}

// nodeID is the id of the member i.
func nodeID(i int) coordinator.NodeID { return coordinator.NodeID(i + 1) }

// Sites implements peer.Cluster.
func (c *Cluster) Sites() []peer.Site {
	var sites []peer.Site
	for _, p := range c.nodes {
		sites = append(sites, p.Site())
	}
	return sites
}

// Processes implements peer.Cluster.
func (c *Cluster) Processes() []int { return member.Pids(c.nodes[:]) }

// Close implements peer.Cluster.
func (c *Cluster) Close() error {
	defer c.ports.Free()
	return member.StopAll(c.nodes[:], syscall.SIGTERM)
}

// Leader implements peer.Failing.
func (c *Cluster) Leader(ctx context.Context, key string) (int, error) {
	var leader coordinator.NodeID
	if err := c.nodes[0].Call(ctx, "Leader", key, &leader); err != nil {
		return 0, err
	}
	if leader == 0 {
		return 0, fmt.Errorf("nobody leads the group of %q", key)
	}
	return int(leader) - 1, nil
}

// Kill implements peer.Failing.
func (c *Cluster) Kill(i int) error { return c.nodes[i].Kill() }

// Revive implements peer.Failing.
func (c *Cluster) Revive(ctx context.Context, i int) error {
	if err := c.start(ctx, i); err != nil {
		return err
	}
	return c.waitReady(ctx, i, &Ready{})
}

// Hold implements peer.Holding.
func (c *Cluster) Hold(ctx context.Context, key string, ttl time.Duration) (peer.Holder, error) {
	leader, err := c.Leader(ctx, key)
	if err != nil {
		return nil, err
	}
	h := &holder{cluster: c, member: (leader + 1) % peer.Members}
	return h, c.nodes[h.member].Call(ctx, "Hold", Held{key, ttl}, &member.Nothing{})
}

// holder is a node that holds a key.
type holder struct {
	cluster *Cluster
	member  int
}

func (h *holder) Site() peer.Site { return h.cluster.nodes[(h.member+1)%peer.Members].Site() }
func (h *holder) Kill() error     { return h.cluster.Kill(h.member) }

func (h *holder) Restore(ctx context.Context) error { return h.cluster.Revive(ctx, h.member) }
