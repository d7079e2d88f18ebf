package locktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/transport"
)

// readyMax bounds how long New waits for a cluster to be ready, and stopMax
// how long a node may take to stop. A busy machine needs a few seconds.
const (
	readyMax = 2 * time.Minute
	stopMax  = 2 * time.Minute
)

// Cluster is some nodes in this process. All methods are safe for concurrent
// use.
type Cluster struct {
	t         testing.TB
	opts      options
	network   *transport.Memory // nil: TCP
	nodes     []*Node           // node i+1 is at i
	addresses map[coordinator.NodeID]string
	news      *news
	leaks     *leaks
}

// New opens a cluster of 1, 3, 5 or 7 nodes, in directories that are removed
// after the test, and returns when every group has a leader and every node has
// caught up. It fails the test at once if that can't be done.
//
// When the test ends the nodes that still run are killed. What of the cluster
// does not stop within a few minutes, a goroutine of its nodes included, fails
// the test.
func New(t testing.TB, nodes int, opts ...Option) *Cluster {
	t.Helper()
	switch nodes {
	case 1, 3, 5, 7:
	default:
		t.Fatalf("locktest: a cluster has 1, 3, 5 or 7 nodes, not %d", nodes)
	}
	c := &Cluster{
		t: t, opts: options{seed: time.Now().UnixNano()},
		addresses: make(map[coordinator.NodeID]string), news: newNews(), leaks: newLeaks(),
	}
	for i, opt := range opts {
		if opt == nil {
			t.Fatalf("locktest: option %d is nil", i)
		}
		opt(&c.opts)
	}
	if !c.opts.tcp {
		c.network = transport.NewMemory(c.opts.seed)
	}
	kept := &keptLog{}
	if c.opts.logger == nil {
		c.opts.logger = kept.logger()
	}
	root := t.TempDir()
	for i := 1; i <= nodes; i++ {
		c.nodes = append(c.nodes, &Node{
			cluster: c, number: i, dir: filepath.Join(root, fmt.Sprintf("node-%d", i)), clock: newClock(t),
		})
	}
	t.Cleanup(func() { c.cleanUp(kept) })
	c.open()
	return c
}

// place gives each node its address.
func (c *Cluster) place() {
	c.t.Helper()
	for _, n := range c.nodes {
		id := coordinator.NodeID(n.number)
		if c.network != nil {
			c.addresses[id] = fmt.Sprintf("node-%d:7400", n.number)
			continue
		}
		// All stay taken until each has one, so that no two are the same.
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			c.t.Fatalf("locktest: a port for node %d: %v", n.number, err)
		}
		defer listener.Close()
		c.addresses[id] = listener.Addr().String()
	}
}

// portTries is how often a cluster WithTCP is opened: another process may
// take a port that was free a moment ago.
const portTries = 5

// open opens all nodes and waits until they are ready.
func (c *Cluster) open() {
	c.t.Helper()
	for try := 1; ; try++ {
		c.place()
		err := c.startAll()
		if err == nil {
			break
		}
		if c.network != nil || !errors.Is(err, syscall.EADDRINUSE) || try == portTries {
			c.t.Fatalf("locktest: %v", err)
		}
		// Addresses are no part of what a directory remembers.
		if err := c.stopNodes(); err != nil {
			c.t.Fatalf("locktest: %v", err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyMax)
	defer cancel()
	if err := c.WaitReady(ctx); err != nil {
		c.t.Fatalf("locktest: the cluster is not ready: %v", err)
	}
}

func (c *Cluster) startAll() error {
	for _, n := range c.nodes {
		if err := n.start(); err != nil {
			return fmt.Errorf("open node %d: %w", n.number, err)
		}
	}
	return nil
}

// cleanUp ends what is left of the cluster when the test has ended.
func (c *Cluster) cleanUp(kept *keptLog) {
	if err := c.stopAll(); err != nil {
		c.t.Errorf("locktest: %v", err)
	} else if left := c.leaks.wait(stopMax); left != "" {
		c.t.Errorf("locktest: goroutines of the cluster go on:\n%s", left)
	}
	if c.t.Failed() {
		c.t.Logf("locktest: seed of the network's faults: %d; WithSeed(%d) draws the same again", c.opts.seed, c.opts.seed)
		if text := kept.String(); text != "" {
			c.t.Logf("locktest: what the nodes logged:\n%s", text)
		}
	}
}

// stopAll stops the nodes and the network.
func (c *Cluster) stopAll() error {
	if c.network == nil {
		return c.stopNodes()
	}
	// A node that is cut off would first wait for what can't come.
	c.network.HealAll()
	return errors.Join(c.stopNodes(), c.network.Close())
}

// stopNodes kills the nodes that run, at the same time: none of them is needed
// by another one any longer.
func (c *Cluster) stopNodes() error {
	errs := make([]error, len(c.nodes))
	var stopping sync.WaitGroup
	for i, n := range c.nodes {
		stopping.Add(1)
		go func() {
			defer stopping.Done()
			errs[i] = n.stop((*running).kill)
		}()
	}
	stopping.Wait()
	return errors.Join(errs...)
}

// Node returns node i, from 1. It fails the test if there is no such node.
func (c *Cluster) Node(i int) *Node {
	c.t.Helper()
	if i < 1 || i > len(c.nodes) {
		c.t.Fatalf("locktest: node %d of a cluster of %d", i, len(c.nodes))
	}
	return c.nodes[i-1]
}

// Nodes returns all nodes, in the order of their numbers.
func (c *Cluster) Nodes() []*Node { return append([]*Node(nil), c.nodes...) }

// WaitReady waits until all nodes that run are ready, or ctx ends; see
// coordinator.WaitReady. It returns what the nodes say that are not.
func (c *Cluster) WaitReady(ctx context.Context) error {
	running := c.running()
	errs := make([]error, len(running))
	var waiting sync.WaitGroup
	for i, r := range running {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			if err := r.coordinator.WaitReady(ctx); err != nil {
				errs[i] = fmt.Errorf("node %d: %w", r.number, err)
			}
		}()
	}
	waiting.Wait()
	return errors.Join(errs...)
}

// running returns the nodes that run, in the order of their numbers.
func (c *Cluster) running() []*running {
	var all []*running
	for _, n := range c.nodes {
		if r := n.runs(); r != nil {
			all = append(all, r)
		}
	}
	return all
}

// String shows the cluster in one line.
func (c *Cluster) String() string {
	parts := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		state := "stopped"
		if n.runs() != nil {
			state = "runs"
		}
		parts[i] = fmt.Sprintf("node %d %s", n.number, state)
	}
	return strings.Join(parts, ", ")
}
