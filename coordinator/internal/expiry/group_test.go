package expiry

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// retry is the retry interval of the tests.
const retry = 300 * time.Millisecond

// group is a machine and the Proposer of one of its replicas, under a clock
// that the test moves.
type group struct {
	t        *testing.T
	now      clock.Instant
	machine  *statemachine.Machine
	proposer *Proposer
	index    statemachine.Index
	nodes    map[statemachine.NodeID]*sender
	sooner   bool // of the last Observe
}

// sender is what a node knows of its own numbering.
type sender struct {
	incarnation statemachine.Incarnation
	batch       statemachine.BatchNumber
	seq         statemachine.Seq
}

// newGroup returns a group with three nodes, none of which was heard from,
// and whose replica is not in office.
func newGroup(t *testing.T) *group {
	g := &group{
		t:        t,
		machine:  statemachine.New(statemachine.Genesis{Group: 1, Members: []statemachine.NodeID{1, 2, 3}}),
		proposer: New(retry),
		nodes:    make(map[statemachine.NodeID]*sender),
	}
	for node := statemachine.NodeID(1); node <= 3; node++ {
		g.nodes[node] = &sender{incarnation: 1}
	}
	g.proposer.Reset(g.now, g.machine)
	return g
}

// led returns a group in office since the start of the clock.
func led(t *testing.T) *group {
	g := newGroup(t)
	g.proposer.TakeOffice(g.now)
	return g
}

// send applies the next batch of a node.
func (g *group) send(node statemachine.NodeID, commands ...statemachine.Command) {
	s := g.nodes[node]
	s.batch++
	g.apply(statemachine.Batch{
		Node: node, Directory: statemachine.DirectoryID{byte(node)}, Incarnation: s.incarnation,
		Number: s.batch, Speaks: statemachine.Binary, Commands: commands,
	})
}

// restart gives a node its next incarnation, which announces itself.
func (g *group) restart(node statemachine.NodeID) {
	s := g.nodes[node]
	s.incarnation++
	s.batch = 0
	g.send(node)
}

// lease applies a batch with which a node acquires a key of its own.
func (g *group) lease(node statemachine.NodeID, ttl, limit time.Duration) statemachine.LeaseID {
	s := g.nodes[node]
	s.seq++
	key := fmt.Sprintf("key-%d-%d-%d", node, s.incarnation, s.seq)
	g.send(node, statemachine.Acquire{
		Seq: s.seq, Claims: []statemachine.Claim{{Key: key, Mode: statemachine.Exclusive}},
		TTL: ttl, Limit: limit,
	})
	id := statemachine.LeaseID{Node: node, Incarnation: s.incarnation, Seq: s.seq}
	_, held := g.machine.Lease(id)
	require.True(g.t, held)
	return id
}

func (g *group) apply(b statemachine.Batch) {
	g.index++
	events := g.machine.Apply(g.index, b)
	g.sooner = g.proposer.Observe(g.now, g.machine, events)
}

// at moves the clock to d after its start.
func (g *group) at(d time.Duration) { g.now = clock.Instant(d) }

// run moves the clock to d after its start as an office does: it calls Due
// whenever a plan asks for it. It returns what was proposed on the way, and
// loses it.
func (g *group) run(d time.Duration) [][]statemachine.Command {
	var proposed [][]statemachine.Command
	for g.now < clock.Instant(d) {
		plan := g.due()
		proposed = append(proposed, plan.Batches...)
		g.now = min(plan.Wake, clock.Instant(d))
	}
	return proposed
}

// due asks for a plan, which must not be a barrier.
func (g *group) due() Plan {
	plan := g.proposer.Due(g.now, g.machine)
	require.False(g.t, plan.Barrier, "at %v", time.Duration(g.now))
	require.Greater(g.t, plan.Wake, g.now)
	return plan
}

// carry applies proposed entries.
func (g *group) carry(batches [][]statemachine.Command) {
	for _, commands := range batches {
		g.apply(statemachine.Batch{Commands: commands})
	}
}

// one returns the only command of a plan.
func (g *group) one(plan Plan) statemachine.Command {
	require.Len(g.t, plan.Batches, 1)
	require.Len(g.t, plan.Batches[0], 1)
	return plan.Batches[0][0]
}
