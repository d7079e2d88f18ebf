package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// cluster is three nodes, of which each has a process while it runs.
type cluster struct {
	program string // this one, which is run once more for each node
	dir     string
	ports   *portBlock
	starts  map[coordinator.NodeID]int // so far
	running map[coordinator.NodeID]*process
}

// newCluster prepares a cluster with its data below dir. No node runs yet.
func newCluster(dir string) (*cluster, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &cluster{
		program: program, dir: dir,
		starts:  map[coordinator.NodeID]int{},
		running: map[coordinator.NodeID]*process{},
	}
	c.ports, err = takePorts(len(members))
	return c, err
}

// start starts a node, for the first time or again, and waits until it has
// opened its directory. Each start is another incarnation of the node. ttl is
// that of its leases.
func (c *cluster) start(ctx context.Context, id coordinator.NodeID, ttl time.Duration) error {
	p, err := startProcess(c.program, settings{node: id, dir: c.dir, addresses: c.ports.addresses, ttl: ttl})
	if err != nil {
		return fmt.Errorf("start node %d: %w", id, err)
	}
	c.running[id] = p
	c.starts[id]++
	opened, err := p.expect(ctx, "opened")
	if err != nil {
		return err
	}
	if want := fmt.Sprintf("incarnation %d,", c.starts[id]); !strings.HasPrefix(opened, want) {
		return fmt.Errorf("node %d should be %s but it is %s", id, want, opened)
	}
	return nil
}

// kill ends a node with SIGKILL.
func (c *cluster) kill(p *process) error {
	if err := p.kill(); err != nil {
		return err
	}
	delete(c.running, p.id)
	return nil
}

// stop tells nodes to stop, with SIGTERM.
func (c *cluster) stop(ids ...coordinator.NodeID) error {
	for _, id := range ids {
		if err := c.running[id].signal(syscall.SIGTERM); err != nil {
			return err
		}
	}
	return nil
}

// ended waits until nodes that were told to stop have done so, and checks that
// their processes ended with status 0.
func (c *cluster) ended(ctx context.Context, ids ...coordinator.NodeID) error {
	for _, id := range ids {
		if err := c.running[id].end(ctx); err != nil {
			return err
		}
		delete(c.running, id)
	}
	return nil
}

// close ends by force what still runs, and adds what those nodes have said to
// the error that was before. Whoever ended the story with Ctrl-C needs no
// explanation.
func (c *cluster) close(before error) error {
	explain := !errors.Is(before, context.Canceled)
	for id, p := range c.running {
		before = errors.Join(before, p.kill())
		if explain {
			before = errors.Join(before, errors.New(p.testimony()))
		}
		delete(c.running, id)
	}
	return errors.Join(before, c.ports.first.Close())
}
