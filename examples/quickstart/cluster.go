package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/transport"
)

const (
	// electionTimeout is shorter than the default, so that the story is. A
	// leader that is gone is replaced after one to two of it.
	electionTimeout = 500 * time.Millisecond
	// groups is over how many Raft groups the keys are spread.
	groups = 4
)

// members are the nodes of the story.
var members = []coordinator.NodeID{1, 2, 3}

// cluster is three nodes, each with a data directory, and a link from each to
// each other.
type cluster struct {
	dir       string
	nodes     map[coordinator.NodeID]*coordinator.Coordinator
	addresses map[coordinator.NodeID]string // at which the nodes listen
	links     map[route]*link
}

// route is one direction between two nodes.
type route struct{ from, to coordinator.NodeID }

// openCluster starts three nodes with their data below dir, and waits until
// every group has a leader and every node has caught up with it.
func openCluster(ctx context.Context, dir string) (*cluster, error) {
	c := &cluster{
		dir:       dir,
		nodes:     map[coordinator.NodeID]*coordinator.Coordinator{},
		addresses: map[coordinator.NodeID]string{},
		links:     map[route]*link{},
	}
	if err := c.open(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *cluster) open(ctx context.Context) error {
	for _, from := range members {
		for _, to := range members {
			if from == to {
				continue
			}
			l, err := openLink()
			if err != nil {
				return err
			}
			c.links[route{from, to}] = l
		}
	}
	for _, id := range members {
		if err := c.start(ctx, id); err != nil {
			return err
		}
	}
	return c.waitReady(ctx, members...)
}

// portsMax is how many ports are tried for a node.
const portsMax = 5

// start opens a node, for the first time or again on another port than before.
// Open does not wait for the other nodes.
func (c *cluster) start(ctx context.Context, id coordinator.NodeID) error {
	for try := 1; ; try++ {
		address, err := freeAddress()
		if err != nil {
			return err
		}
		if address == c.addresses[id] && try < portsMax {
			continue
		}
		node, err := coordinator.Open(ctx, c.config(id, address))
		if errors.Is(err, syscall.EADDRINUSE) && try < portsMax {
			continue // somebody else was faster
		}
		if err != nil {
			return fmt.Errorf("node %d: %w", id, err)
		}
		c.nodes[id], c.addresses[id] = node, address
		for way, l := range c.links {
			if way.to == id {
				l.lead(address)
			}
		}
		return nil
	}
}

// config is what a node is told. Its peers' addresses are those of its links
// to them. They are not part of what the cluster is born with, so that they
// may change between starts.
func (c *cluster) config(id coordinator.NodeID, address string) coordinator.Config {
	peers := map[coordinator.NodeID]string{id: address}
	for way, l := range c.links {
		if way.from == id {
			peers[way.to] = l.address()
		}
	}
	return coordinator.Config{
		Dir:     filepath.Join(c.dir, fmt.Sprintf("node-%d", id)),
		Cluster: "quickstart", NodeID: id, Peers: peers, TLS: transport.Insecure,
		Listen:          address,
		ElectionTimeout: electionTimeout, Groups: groups,
	}
}

// freeAddress returns an address of the loopback interface that was free a
// moment ago.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// node returns a running node.
func (c *cluster) node(id coordinator.NodeID) *coordinator.Coordinator { return c.nodes[id] }

// waitReady waits until nodes know the leader of every group and have caught
// up.
func (c *cluster) waitReady(ctx context.Context, ids ...coordinator.NodeID) error {
	for _, id := range ids {
		if err := c.nodes[id].WaitReady(ctx); err != nil {
			return fmt.Errorf("node %d: %w", id, err)
		}
	}
	return nil
}

// isolate cuts a node off in both directions. It fails if no connection was
// broken by it, because then the story would tell of a fault that did not
// happen.
func (c *cluster) isolate(id coordinator.NodeID) error {
	broken := 0
	for way, l := range c.links {
		if way.from == id || way.to == id {
			broken += l.cut()
		}
	}
	if broken == 0 {
		return fmt.Errorf("node %d had no connection that could be cut", id)
	}
	return nil
}

// heal mends all links.
func (c *cluster) heal() {
	for _, l := range c.links {
		l.mend()
	}
}

// close stops what runs, all nodes at once. Those that are closed already stay
// so.
func (c *cluster) close() {
	var closing sync.WaitGroup
	for _, node := range c.nodes {
		closing.Add(1)
		go func() {
			defer closing.Done()
			// The story has ended, well or not; there is nothing to be done
			// about a node that ends badly.
			_ = node.Close()
		}()
	}
	closing.Wait()
	for _, l := range c.links {
		l.close()
	}
}

// others are all members but one.
func others(id coordinator.NodeID) []coordinator.NodeID {
	return slices.DeleteFunc(slices.Clone(members), func(m coordinator.NodeID) bool { return m == id })
}
