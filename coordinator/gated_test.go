package coordinator_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/transport"
)

// gatedCluster is three nodes with one group, whose loops can be held up: what
// locktest does not offer, because no user can cause it but by a slow disk or a
// paused process.
type gatedCluster struct {
	t       *testing.T
	network *transport.Memory
	nodes   []*gatedNode // node i+1 is at i
}

// gatedNode is one of them.
type gatedNode struct {
	*coordinator.Coordinator
	controls inject.Controls
	clock    *movedClock
	apply    *gate // each log entry passes it after it was applied
	batches  *gate // each batch passes it while it is made
}

// gate is open until it is shut.
type gate struct {
	mu      sync.Mutex
	open    chan struct{} // closed: whoever comes may pass
	blocked chan struct{} // has room for one: somebody stands before it
}

func newGate() *gate {
	g := &gate{blocked: make(chan struct{}, 1), open: make(chan struct{})}
	close(g.open)
	return g
}

func (g *gate) pass() {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return
	default:
	}
	select {
	case g.blocked <- struct{}{}:
	default:
	}
	<-open
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

// lift opens the gate, again or still.
func (g *gate) lift() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
	default:
		close(g.open)
	}
}

// awaitBlocked waits until somebody stands before the gate.
func (g *gate) awaitBlocked(t *testing.T) {
	t.Helper()
	select {
	case <-g.blocked:
	case <-patient(t).Done():
		require.FailNow(t, "nothing is held up")
	}
}

// movedClock is the machine's clock, moved forward.
type movedClock struct{ by atomic.Int64 }

// Now implements clock.Clock.
func (c *movedClock) Now() clock.Instant {
	return clock.System{}.Now().Add(time.Duration(c.by.Load()))
}

// gatedElection leaves a busy machine time, and a test that waits for three of it
// again and again.
const gatedElection = time.Second

// newGatedCluster opens the nodes, and returns when they are ready.
func newGatedCluster(t *testing.T) *gatedCluster {
	c := &gatedCluster{t: t, network: transport.NewMemory(0)}
	dir := t.TempDir() // it goes after the nodes have stopped
	t.Cleanup(c.stop)
	peers := make(map[coordinator.NodeID]string)
	for i := 1; i <= 3; i++ {
		peers[coordinator.NodeID(i)] = c.address(i)
	}
	for i := 1; i <= 3; i++ {
		n := &gatedNode{clock: &movedClock{}, apply: newGate(), batches: newGate()}
		env := inject.Env{
			Network: c.network.Join, Clock: n.clock, Moved: n.apply.pass,
			Wall:   func() time.Time { n.batches.pass(); return time.Now() },
			Opened: func(controls inject.Controls) { n.controls = controls },
		}
		opened, err := coordinator.Open(inject.With(patient(t), env), coordinator.Config{
			Dir: filepath.Join(dir, fmt.Sprint("node-", i)), Cluster: "gated", NodeID: coordinator.NodeID(i), Peers: peers,
			Groups: 1, TLS: transport.Insecure, ElectionTimeout: gatedElection, TTL: long,
		})
		require.NoError(t, err)
		n.Coordinator = opened
		c.nodes = append(c.nodes, n)
	}
	for _, n := range c.nodes {
		require.NoError(t, n.WaitReady(patient(t)))
	}
	return c
}

func (c *gatedCluster) address(node int) string { return fmt.Sprintf("gated-%d:7400", node) }

func (c *gatedCluster) node(i int) *gatedNode { return c.nodes[i-1] }

// stop kills all nodes, whatever holds them up.
func (c *gatedCluster) stop() {
	c.network.HealAll()
	for _, n := range c.nodes {
		n.apply.lift()
		n.batches.lift()
	}
	parallel(len(c.nodes), func(i int) {
		if err := c.nodes[i].controls.Kill(); err != nil {
			c.t.Errorf("node %d: %v", i+1, err)
		}
	})
	require.NoError(c.t, c.network.Close())
}

// advance moves clocks forward.
func (c *gatedCluster) advance(d time.Duration, nodes ...int) {
	for _, n := range nodes {
		c.node(n).clock.by.Add(int64(d))
	}
}

// leader returns who leads as a node sees it.
func (n *gatedNode) leader() int {
	leader, _ := n.controls.Leader(1)
	return int(leader)
}

// applied returns up to where the node's replica has applied the log.
func (n *gatedNode) applied() uint64 { return n.Status().Groups[0].Applied }

// lead makes a node the leader.
func (c *gatedCluster) lead(node int) {
	c.t.Helper()
	c.eventually("the leader to be moved", func() bool {
		if leader := c.node(node).leader(); leader != node && leader != 0 {
			// A wish, which is dropped while another is looked after.
			_ = c.node(leader).controls.Lead(1, uint64(node))
		}
		for _, n := range c.nodes {
			if n.leader() != node {
				return false
			}
		}
		return true
	})
}

// eventually waits until something holds that no channel tells.
func (c *gatedCluster) eventually(what string, holds func() bool) {
	c.t.Helper()
	require.Eventually(c.t, holds, patience, 20*time.Millisecond, what)
}
