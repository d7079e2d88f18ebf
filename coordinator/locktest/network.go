package locktest

import (
	"time"

	"github.com/palisade-go/palisade/transport"
)

// The faults of the network are those of transport.Memory, by node number.
// One that is set stays until Heal and replaces an earlier one of its sort in
// the direction; faults of different sorts add up. They outlast a restart of
// the nodes, unless that changes an address. All of these methods return at
// once, and fail the test in a cluster WithTCP.

// Cut breaks the direction audibly: links break, and what they hold is lost.
// The opposite direction is not touched.
func (c *Cluster) Cut(from, to int) {
	c.t.Helper()
	c.memory("Cut").Cut(c.address(from), c.address(to))
}

// BlackHole lets everything in the direction vanish without an error. No new
// link comes about between the two; what goes over open links in the opposite
// direction arrives.
func (c *Cluster) BlackHole(from, to int) {
	c.t.Helper()
	c.memory("BlackHole").BlackHole(c.address(from), c.address(to))
}

// Delay makes each frame sent from now on arrive between shortest and longest
// later, but never before an earlier one of its link.
func (c *Cluster) Delay(from, to int, shortest, longest time.Duration) {
	c.t.Helper()
	c.memory("Delay").Delay(c.address(from), c.address(to), shortest, longest)
}

// Drop lets each frame vanish without an error with the given probability.
func (c *Cluster) Drop(from, to int, probability float64) {
	c.t.Helper()
	c.memory("Drop").Drop(c.address(from), c.address(to), probability)
}

// Duplicate makes each frame arrive twice with the given probability.
func (c *Cluster) Duplicate(from, to int, probability float64) {
	c.t.Helper()
	c.memory("Duplicate").Duplicate(c.address(from), c.address(to), probability)
}

// Isolate is a black hole both ways between a node and all others.
func (c *Cluster) Isolate(node int) {
	c.t.Helper()
	c.memory("Isolate").Isolate(c.address(node))
}

// Heal ends all faults of the network. Links that broke are made anew by the
// nodes.
func (c *Cluster) Heal() {
	c.t.Helper()
	c.memory("Heal").HealAll()
}

// Traffic returns what was counted in one direction since the cluster was
// made: with it a test shows that its fault met something.
func (c *Cluster) Traffic(from, to int) transport.Stats {
	c.t.Helper()
	return c.memory("Traffic").Stats(c.address(from), c.address(to))
}

// memory returns the network, for the method of that name.
func (c *Cluster) memory(method string) *transport.Memory {
	c.t.Helper()
	if c.network == nil {
		c.t.Fatalf("locktest: %s is not offered by a cluster WithTCP: only the network in memory has faults", method)
	}
	return c.network
}

// address returns where a node listens.
func (c *Cluster) address(node int) string {
	c.t.Helper()
	n := c.Node(node)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.address
}
