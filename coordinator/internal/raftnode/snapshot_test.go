package raftnode

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// small makes the log short, so that a node that lags needs a snapshot.
func small(cfg *Config) { cfg.SnapshotEntries = 40 }

// outrun proposes at p until the log that lagging has not seen is cut off.
func (p *peer) outrun(group statemachine.GroupID, keys int) {
	p.cluster.t.Helper()
	before := p.node.Stats(group).SnapshotsCreated
	for i := 0; i < keys || p.node.Stats(group).SnapshotsCreated < before+3; i++ {
		p.acquire(group, fmt.Sprintf("key-%d", i), time.Hour)
	}
}

func TestSnapshot(t *testing.T) {
	t.Run("IsInstalledOnANodeThatWasCutOff", func(t *testing.T) {
		c := start(t, 3, withConfig(small))
		leader := c.leader(1)
		lagging := c.other(leader)
		id := lagging.acquire(1, "own", time.Hour)
		lagging.acquire(1, "own", time.Hour) // waits for itself
		c.network.Isolate(c.address(lagging.id))
		leader = c.leaderWithout(lagging)
		leader.outrun(1, 200)
		c.network.HealAll()
		sink := lagging.sinks[0]
		sink.await(t, "the install", func() bool { return len(sink.installed) > 1 })
		require.NotZero(t, lagging.node.Stats(1).SnapshotsInstalled)
		require.Equal(t, leader.read(1), lagging.read(1))

		sink.mu.Lock()
		state := sink.installed[len(sink.installed)-1]
		sink.mu.Unlock()
		require.Equal(t, lagging.id, state.Presence.Node)
		require.Equal(t, statemachine.BatchNumber(2), state.Presence.Last)
		require.Len(t, state.Leases, 1)
		require.Equal(t, id, state.Leases[0].ID)
		require.Len(t, state.Waits, 1)
		// What comes after it comes as events again.
		lagging.send(1)
		last := sink.entries[len(sink.entries)-1]
		require.Greater(t, last.index, state.Index)
	})

	t.Run("IsInstalledOnANodeThatWasDown", func(t *testing.T) {
		c := start(t, 3, withConfig(small))
		leader := c.leader(1)
		down := c.other(leader)
		down.acquire(1, "own", time.Hour)
		down.stop()
		leader.outrun(1, 200)
		require.NoError(t, down.start())
		down.send(1)
		require.NotZero(t, down.node.Stats(1).SnapshotsInstalled)
		require.Equal(t, leader.read(1), down.read(1))
		// And it survives the next start.
		down.stop()
		require.NoError(t, down.start())
		require.Equal(t, leader.read(1), down.read(1))
	})

	t.Run("ComesWhileTheGroupGoesOn", func(t *testing.T) {
		c := start(t, 3, withConfig(small))
		leader := c.leader(1)
		lagging := c.other(leader)
		c.network.Isolate(c.address(lagging.id))
		leader = c.leaderWithout(lagging)
		leader.outrun(1, 300)
		c.network.HealAll()
		for i := 0; lagging.node.Stats(1).SnapshotsInstalled == 0; i++ {
			leader.acquire(1, fmt.Sprintf("more-%d", i), time.Hour)
		}
		require.Equal(t, leader.read(1), lagging.read(1))
	})
}

// leaderWithout waits until a node other than the one that is cut off leads
// among the rest.
func (c *cluster) leaderWithout(cut *peer) *peer {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		for _, p := range c.peers {
			if p != cut && p.node != nil && p.node.Leader(1).Leader == p.id {
				return p
			}
		}
		require.Less(c.t, time.Now(), deadline, "no leader")
		c.other(cut).pause(1)
	}
}

func TestRestart(t *testing.T) {
	fill := func(c *cluster) {
		for i := range 30 {
			for _, id := range c.members {
				c.peers[id].acquire(1, fmt.Sprintf("key-%d", i%7), time.Hour)
			}
		}
	}

	t.Run("OfOneNodeKeepsItsState", func(t *testing.T) {
		c := start(t, 3, withConfig(small))
		fill(c)
		for _, p := range c.peers {
			dump := p.read(1)
			p.stop()
			require.NoError(t, p.start())
			require.Equal(t, dump, p.read(1))
		}
	})

	t.Run("OfAllNodesKeepsTheirState", func(t *testing.T) {
		c := start(t, 3, withConfig(small))
		fill(c)
		dump := c.peers[1].read(1)
		for _, p := range c.peers {
			p.stop()
		}
		for _, p := range c.peers {
			require.NoError(t, p.start())
		}
		for _, p := range c.peers {
			require.Equal(t, dump, p.read(1))
		}
	})

	t.Run("OfASingleNodeTellsItsStateOnce", func(t *testing.T) {
		c := start(t, 1, withConfig(small))
		p := c.peers[1]
		p.acquire(1, "k", time.Hour)
		dump := p.read(1)
		p.stop()
		p.incarnation-- // the same incarnation, to see its own leases
		require.NoError(t, p.start())
		sink := p.sinks[0]
		sink.await(t, "the state", func() bool { return len(sink.installed) == 1 })
		require.Len(t, sink.installed[0].Leases, 1)
		require.Equal(t, dump, p.read(1))
	})
}
