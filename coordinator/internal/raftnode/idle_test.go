package raftnode

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// counter counts the frames that a cluster sends.
type counter struct {
	sent atomic.Int64
	goal atomic.Int64
	met  chan struct{} // told when as many were sent as the goal says
}

// await returns when that many more frames were sent.
func (c *counter) await(t testing.TB, frames int64) {
	t.Helper()
	c.goal.Store(c.sent.Load() + frames)
	select {
	case <-c.met:
	case <-time.After(patience):
		require.FailNow(t, "too few frames were sent")
	}
}

// countedNetwork is a network whose links count.
type countedNetwork struct {
	transport.Network
	counter *counter
}

func (n countedNetwork) Dial(ctx context.Context, from, to string, kind transport.Kind) (transport.Link, error) {
	link, err := n.Network.Dial(ctx, from, to, kind)
	if err != nil {
		return nil, err
	}
	return countedLink{link, n.counter}, nil
}

type countedLink struct {
	transport.Link
	counter *counter
}

func (l countedLink) Send(frame []byte) error {
	if l.counter.sent.Add(1) == l.counter.goal.Load() {
		l.counter.met <- struct{}{}
	}
	return l.Link.Send(frame)
}

// TestHeartbeatsOfAllGroupsGoTogether counts the frames of an idle cluster. Ten times
// in an election timeout a node sends each of the two others the heartbeats of what
// it leads, and gets the answers. What the engine's workers do at the same time goes
// in a frame each, so there may be some more, but not one for each group.
func TestHeartbeatsOfAllGroupsGoTogether(t *testing.T) {
	const nodes, groups = 3, 48
	count := &counter{met: make(chan struct{}, 1)}
	long := time.Duration(0)
	c := start(t, nodes, withGroups(groups), withConfig(func(cfg *Config) {
		long = 4 * cfg.Election
		cfg.Election, cfg.Network = long, countedNetwork{cfg.Network, count}
	}))
	for group := statemachine.GroupID(1); group <= groups; group++ {
		c.anyone().send(group) // it has a leader, and nothing is left to be caught up on
	}
	changes := func() (sum uint64) {
		for _, p := range c.peers {
			for group := statemachine.GroupID(1); group <= groups; group++ {
				sum += p.node.Stats(group).LeaderChanges
			}
		}
		return sum
	}
	const frames, pairs = 300, nodes * (nodes - 1)
	var each float64
	for tries := 1; ; tries++ {
		began, before := time.Now(), changes()
		count.await(t, frames)
		each = frames / (float64(time.Since(began)) / float64(long/10)) / pairs
		if changes() == before {
			break
		}
		require.Less(t, tries, 5, "an election came in between, each time")
	}
	t.Logf("%.1f frames in E/10 from each node to each other one", each)
	require.Less(t, each, 6.0, "2 would do; a heartbeat and an answer of each group would be %d", 2*groups/nodes)
}
