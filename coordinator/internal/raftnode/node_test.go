package raftnode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

func TestASingleNodeWorksAtOnce(t *testing.T) {
	c := start(t, 1, withGroups(2))
	p := c.peers[1]
	for group := statemachine.GroupID(1); group <= 2; group++ {
		id := p.acquire(group, "k", time.Minute)
		p.sinks[group-1].await(t, "the grant", func() bool {
			return p.sinks[group-1].find(func(e statemachine.Event) bool {
				g, ok := e.(statemachine.Granted)
				return ok && g.Lease == id
			})
		})
		require.NoError(t, p.node.View(group, func(m *statemachine.Machine) {
			_, held := m.Lease(id)
			require.True(t, held)
		}))
		require.Contains(t, p.read(group), "k")
		require.Equal(t, p.id, p.node.Leader(group).Leader)
		require.NotZero(t, p.node.Stats(group).AppliedIndex)
	}
}

func TestOpenNeverWaitsForPeers(t *testing.T) {
	c := newCluster(t, 3)
	require.NoError(t, c.peers[2].start())
	sink := c.peers[2].sinks[0]
	sink.await(t, "the state of the opened replica", func() bool { return len(sink.installed) == 1 })
	require.Equal(t, State{Presence: statemachine.Presence{Node: 2}}, normal(sink.installed[0]))
}

// normal makes states with nothing in them equal.
func normal(s State) State {
	if len(s.Leases) == 0 {
		s.Leases = nil
	}
	if len(s.Waits) == 0 {
		s.Waits = nil
	}
	return s
}

func TestThreeNodesApplyTheSame(t *testing.T) {
	for name, options := range map[string][]option{
		"OverMemory": {withGroups(2)},
		"OverTCP":    {withGroups(2), overTCP()},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, 3, options...)
			const rounds = 20
			for round := range rounds {
				for _, id := range c.members {
					group := statemachine.GroupID(1 + round%2)
					c.peers[id].acquire(group, fmt.Sprintf("key-%d", round%5), time.Minute)
				}
			}
			for group := statemachine.GroupID(1); group <= 2; group++ {
				dump := c.peers[1].read(group)
				for _, id := range c.members[1:] {
					require.Equal(t, dump, c.peers[id].read(group))
				}
				c.requireEqualEvents(group)
			}
		})
	}
}

// requireEqualEvents requires that all Sinks were told the same, once they
// have been told as much as the one that knows most.
func (c *cluster) requireEqualEvents(group statemachine.GroupID) {
	c.t.Helper()
	longest := 0
	for _, p := range c.peers {
		sink := p.sinks[group-1]
		sink.mu.Lock()
		longest = max(longest, len(sink.entries))
		sink.mu.Unlock()
	}
	first := c.peers[1].sinks[group-1]
	for _, p := range c.peers {
		sink := p.sinks[group-1]
		sink.await(c.t, "all events", func() bool { return len(sink.entries) >= longest })
		sink.mu.Lock()
		entries := sink.entries
		sink.mu.Unlock()
		require.Equal(c.t, first.entries[:longest], entries[:longest], "node %d", p.id)
		for i := 1; i < longest; i++ {
			require.Less(c.t, entries[i-1].index, entries[i].index, "indexes rise")
		}
	}
}

func TestNodesKnowEachOtherByIDWhenAllHostsAndPortsChange(t *testing.T) {
	for name, options := range map[string][]option{"OverMemory": nil, "OverTCP": {overTCP()}} {
		t.Run(name, func(t *testing.T) {
			c := start(t, 3, options...)
			id := c.peers[1].acquire(1, "k", time.Hour)
			for _, p := range c.peers {
				p.stop()
			}
			for _, member := range c.members {
				c.move(member)
			}
			for _, member := range c.members {
				require.NoError(t, c.peers[member].start())
			}
			for _, p := range c.peers {
				p.read(1)
				require.NoError(t, p.node.View(1, func(m *statemachine.Machine) {
					_, held := m.Lease(id)
					require.True(t, held, "node %d", p.id)
				}))
			}
		})
	}
}

func TestALonePeerThatMovesIsFoundAgain(t *testing.T) {
	c := start(t, 3)
	p := c.other(c.leader(1))
	p.stop()
	c.move(p.id)
	require.NoError(t, p.start())
	p.send(1)
}

func TestUnknownGroups(t *testing.T) {
	p := start(t, 1).peers[1]
	for _, group := range []statemachine.GroupID{0, 2} {
		require.ErrorIs(t, p.node.View(group, nil), ErrUnknownGroup)
		require.ErrorIs(t, p.node.Read(context.Background(), group, nil), ErrUnknownGroup)
		require.ErrorIs(t, p.node.Transfer(group, 1), ErrUnknownGroup)
		err := p.propose(group, nil, time.Second)
		require.ErrorIs(t, err, ErrUnknownGroup)
		require.ErrorIs(t, err, ErrNotApplied)
		require.Zero(t, p.node.Leader(group))
		require.Zero(t, p.node.Stats(group))
	}
}

// transfer makes a node the leader. A transfer is a wish: the engine drops it when
// the target does not take over within an election timeout. So it is asked for
// again.
func (c *cluster) transfer(to *peer) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); c.leader(1) != to; {
		require.Less(c.t, time.Now(), deadline, "waited too long for the transfer")
		if err := c.leader(1).node.Transfer(1, to.id); !errors.Is(err, ErrNotReady) { // one is under way
			require.NoError(c.t, err)
		}
		to.pause(1)
	}
}

func TestTransferMovesTheLeader(t *testing.T) {
	c := start(t, 3, steady())
	to := c.other(c.leader(1))
	c.transfer(to)
	to.sinks[0].await(t, "word of the transfer", func() bool {
		n := len(to.sinks[0].leaders)
		return n > 0 && to.sinks[0].leaders[n-1].Leader == to.id
	})
	require.Equal(t, to, c.leader(1))
	to.send(1)
}

func TestOpenStopsWhatItStarted(t *testing.T) {
	c := start(t, 1, withGroups(3))
	p := c.peers[1]
	p.send(1)
	p.stop()
	// Group 2 can't start: its directory is in the way of the engine.
	blocked, err := filepath.Glob(filepath.Join(p.dir(), "raft", replicasDir, "*", "snapshot-part-*", "snapshot-2-1"))
	require.NoError(t, err)
	require.Len(t, blocked, 1)
	require.NoError(t, os.RemoveAll(blocked[0]))
	require.NoError(t, os.WriteFile(blocked[0], nil, 0o600))
	err = p.start()
	require.ErrorIs(t, err, ErrEngine)
	require.ErrorContains(t, err, "group 2")
	// Everything is free again: once the way is clear it starts.
	require.NoError(t, os.Remove(blocked[0]))
	require.NoError(t, p.start())
	p.send(1)
}

func TestWalkGoesOverAllKeysAndHoldsNobodyUp(t *testing.T) {
	c := start(t, 1)
	p := c.peers[1]
	const keys = 2*walkStep + 5
	for i := range keys {
		p.acquire(1, fmt.Sprintf("key-%d", i), time.Minute)
	}
	seen := map[string]bool{}
	require.NoError(t, p.node.Walk(1, 0, func(g statemachine.Glance) bool {
		if len(seen) == 0 {
			p.acquire(1, "meanwhile", time.Minute) // would wait for ever behind a lock
		}
		seen[g.Holder.Key] = true
		return true
	}))
	delete(seen, "meanwhile")
	require.Len(t, seen, keys)
	calls := 0
	require.NoError(t, p.node.Walk(1, 0, func(statemachine.Glance) bool { calls++; return false }))
	require.Equal(t, 1, calls)
	require.ErrorIs(t, p.node.Walk(9, 0, nil), ErrUnknownGroup)
	require.Nil(t, p.node.Heard(9))
}
