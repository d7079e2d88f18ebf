package locktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/transport"
)

// Node is one node of a Cluster, running or not. All methods are safe for
// concurrent use.
type Node struct {
	cluster *Cluster
	number  int
	dir     string
	clock   *Clock
	free    atomic.Pointer[uint64] // of the disk; nil: what the disk says

	// turn is held while the node is started or stopped.
	turn sync.Mutex

	mu      sync.Mutex
	run     *running // nil: stopped
	last    *coordinator.Coordinator
	address string                      // of the last start, in the network
	changes []func(*coordinator.Config) // of all restarts
	before  Faults                      // counted by earlier starts
}

// running is one start of a node.
type running struct {
	number      int
	coordinator *coordinator.Coordinator
	controls    inject.Controls
	groups      int
}

func (r *running) close() error { return r.coordinator.Close() }

func (r *running) kill() error { return r.controls.Kill() }

// Number returns the number of the node, which is its NodeID too.
func (n *Node) Number() int { return n.number }

// Dir returns the node's data directory, which stays when the node stops.
func (n *Node) Dir() string { return n.dir }

// Clock returns the node's clock. It stays the same through restarts.
func (n *Node) Clock() *Clock { return n.clock }

// Coordinator returns the node's coordinator: that of the last start if the
// node is stopped.
func (n *Node) Coordinator() *coordinator.Coordinator {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}

// Running reports whether the node runs.
func (n *Node) Running() bool { return n.runs() != nil }

func (n *Node) runs() *running {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.run
}

// Close stops the node in good order, as Coordinator.Close does, and marks the
// test as failed if that returns an error. It waits until the node has
// stopped. A node that is stopped stays so.
func (n *Node) Close() {
	n.cluster.t.Helper()
	if err := n.stop((*running).close); err != nil {
		n.cluster.t.Errorf("locktest: %v", err)
	}
}

// Kill stops the node as the death of its process does: its leases are lost
// here at once, and no other node is told anything. Otherwise it is as Close.
// What the node has written survives; a crash of its machine could lose some
// of it.
func (n *Node) Kill() {
	n.cluster.t.Helper()
	if err := n.stop((*running).kill); err != nil {
		n.cluster.t.Errorf("locktest: %v", err)
	}
}

// Restart opens the node again on the same directory, as its next incarnation,
// and closes it first if it runs. The changes apply to the configuration, from
// now on: after those of WithConfig and of earlier restarts. It does not wait
// until the node is ready. It fails the test at once if the node can't be
// opened.
func (n *Node) Restart(changes ...func(*coordinator.Config)) {
	n.cluster.t.Helper()
	n.Close()
	n.mu.Lock()
	n.changes = append(n.changes, changes...)
	n.mu.Unlock()
	if err := n.start(); err != nil {
		n.cluster.t.Fatalf("locktest: open node %d: %v", n.number, err)
	}
}

// start opens the node.
func (n *Node) start() error {
	n.turn.Lock()
	defer n.turn.Unlock()
	if n.runs() != nil {
		return errors.New("it runs")
	}
	cfg := n.config()
	r := &running{number: n.number}
	var network func(transport.Member) (transport.Network, error)
	if n.cluster.network != nil {
		network = n.cluster.network.Join
	}
	ctx := inject.With(context.Background(), inject.Env{
		Clock:           nodeClock{n.clock},
		Wall:            n.clock.wall,
		Network:         network,
		SnapshotEntries: n.cluster.opts.snapshotEntries,
		LeadersStay:     !n.cluster.opts.placement,
		Gauge:           n.gauge,
		Moved:           n.cluster.news.tell,
		Opened:          func(c inject.Controls) { r.controls = c },
	})
	var err error
	n.cluster.leaks.watch(func() { r.coordinator, err = coordinator.Open(ctx, cfg) })
	if err != nil {
		return err
	}
	r.groups = len(r.coordinator.Status().Groups)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.run, n.last, n.address = r, r.coordinator, cfg.Peers[cfg.NodeID]
	return nil
}

// config returns the configuration of the next start.
func (n *Node) config() coordinator.Config {
	c := n.cluster
	cfg := coordinator.Config{
		Dir: n.dir, Cluster: "locktest", NodeID: coordinator.NodeID(n.number), Peers: maps.Clone(c.addresses),
		ElectionTimeout: ElectionTimeout, TTL: TTL, Groups: Groups, Logger: c.opts.logger, TLS: transport.Insecure,
	}
	switch {
	case len(c.nodes) == 1:
		cfg.ElectionTimeout = coordinator.SingleElectionTimeout
	case c.network == nil:
		cfg.Listen = cfg.Peers[cfg.NodeID]
	}
	for _, change := range c.opts.configure {
		change(n.number, &cfg)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, change := range n.changes {
		change(&cfg)
	}
	return cfg
}

// stop stops the node, if it runs, and waits until it has stopped.
func (n *Node) stop(how func(*running) error) error {
	n.turn.Lock()
	defer n.turn.Unlock()
	r := n.runs()
	if r == nil {
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- how(r) }()
	timer := time.NewTimer(stopMax)
	defer timer.Stop()
	select {
	case err := <-done:
		n.mu.Lock()
		defer n.mu.Unlock()
		n.run = nil
		n.before = n.before.plus(r.faults())
		if err != nil {
			return fmt.Errorf("node %d did not stop well: %w", n.number, err)
		}
		return nil
	case <-timer.C:
		return fmt.Errorf("node %d has not stopped within %v", n.number, stopMax)
	}
}
