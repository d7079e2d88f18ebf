package raftnode

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStallIsFoundOnlyWhileSomethingIsProposed(t *testing.T) {
	const bound = 10 * time.Second
	start := time.Now()
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	var s stall
	require.False(t, s.stands(at(0), false, 7, bound), "nothing proposed")
	require.False(t, s.stands(at(100), true, 7, bound), "watching begins")
	require.False(t, s.stands(at(109), false, 7, bound))
	require.True(t, s.stands(at(110), false, 7, bound))
	require.False(t, s.stands(at(119), false, 7, bound), "asked again only after another bound")
	require.True(t, s.stands(at(120), false, 7, bound))
	require.False(t, s.stands(at(121), false, 8, bound), "something was applied")
	require.False(t, s.stands(at(500), false, 8, bound), "and nothing was proposed since")
	require.False(t, s.stands(at(501), true, 8, bound))
	require.False(t, s.stands(at(509), true, 9, bound), "it moves")
	require.False(t, s.stands(at(518), true, 9, bound))
	require.True(t, s.stands(at(519), true, 9, bound))
}

// The log goes on without the leader's apply loop, so nobody elects another
// leader by himself; the dead must be let go all the same (G6).
func TestALeaderThatDoesNotApplyHandsOver(t *testing.T) {
	c := start(t, 3)
	leader := c.leader(1)
	dead := c.other(leader)
	id := dead.acquire(1, "k", 4*election)
	third := c.peers[6-leader.id-dead.id]
	stuck := leader.sinks[0]
	stuck.mu.Lock() // its Applied blocks, and the apply loop with it
	defer stuck.mu.Unlock()
	dead.send(1) // the leader's machine may see this one
	dead.send(1) // and not this one, so what it proposes names an older batch
	dead.stop()
	third.sinks[0].await(t, "the expiry", func() bool { return third.sinks[0].expired(id) })
	require.Equal(t, third.id, third.node.Leader(1).Leader)
}
