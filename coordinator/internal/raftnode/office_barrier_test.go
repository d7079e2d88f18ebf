package raftnode

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNoOfficeIsTakenWithoutItsBarrier(t *testing.T) {
	t.Run("ByANodeThatTakesItselfForTheLeaderAndReachesNobody", func(t *testing.T) {
		c := start(t, 3)
		p := c.anyone()
		c.leader(1)
		for _, other := range c.peers {
			if other != p {
				other.stop()
			}
		}
		r := p.node.replica(1)
		for deadline := time.Now().Add(patience); ; p.pause(1) {
			if leader, _ := r.leads(); leader.Leader == 0 {
				break
			}
			require.Less(t, time.Now(), deadline, "it never noticed that it is alone")
		}
		offices := p.node.Stats(1).Offices
		r.led(LeaderInfo{Leader: p.id, Term: 99})
		// Long enough for several barriers to fail.
		for until := time.Now().Add(4 * election); time.Now().Before(until); p.pause(1) {
			require.Equal(t, offices, p.node.Stats(1).Offices)
		}
	})
	t.Run("ThatWasPassedInAnotherTerm", func(t *testing.T) {
		p := start(t, 1).peers[1]
		p.send(1)
		leader, here := p.node.replica(1).leads()
		require.True(t, here)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		take := func(term uint64) bool {
			o := &office{node: p.node, replica: p.node.replica(1), timer: time.NewTimer(time.Hour)}
			defer o.timer.Stop()
			return o.take(ctx, term)
		}
		require.False(t, take(leader.Term-1))
		require.False(t, take(leader.Term+1))
		require.True(t, take(leader.Term))
	})
}
