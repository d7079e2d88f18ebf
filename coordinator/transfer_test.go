package coordinator_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/locktest"
)

// S150: a leadership is being moved to a node that lags, which can't be done
// because it is cut off. A leader refuses all commands meanwhile. Then it
// works again: whether the leader stays the same, or loses and wins again.
func TestS150ALeadershipTransferThatIsInterrupted(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	const key = "key"
	leader := c.Node(1)
	take := func(n *locktest.Node, when string) {
		t.Helper()
		lease, err := n.Coordinator().Acquire(ctx, key)
		require.NoError(t, err, when)
		release(t, lease)
	}
	for round := range 3 {
		require.NoError(t, c.MoveLeader(ctx, key, 1))
		c.Isolate(3)
		for i := range 20 { // the target lags
			take(leader, fmt.Sprintf("round %d, entry %d", round, i))
		}
		retries, term := leader.Coordinator().Status().Retries, termOf(c, key)
		moving, cancel := context.WithCancel(ctx)
		moved := make(chan error, 1)
		go func() { moved <- c.MoveLeader(moving, key, 3) }() // asks again and again
		require.NoError(t, c.Await(ctx, "a command to be refused", func() bool {
			if s := leader.Coordinator().Status(); s.Retries > retries {
				return true
			}
			short, cancel := context.WithTimeout(ctx, locktest.ElectionTimeout/4)
			defer cancel()
			_, _ = leader.Coordinator().Acquire(short, key)
			return false
		}))
		cancel()
		require.ErrorIs(t, <-moved, context.Canceled)
		require.NotZero(t, droppedAt(c, 3))

		if round == 0 {
			take(leader, "after a transfer that came to nothing")
			require.Equal(t, term, termOf(c, key), "the leader has stayed the same")
		}
		// It loses to one of the others, in the midst of the next transfer.
		moving, cancel = context.WithCancel(ctx)
		go func() { moved <- c.MoveLeader(moving, key, 3) }()
		c.Heal()
		c.Isolate(1)
		awaitOtherLeader(t, c, key, 1)
		cancel()
		<-moved // it may have come to an end by that
		c.Heal()
		require.NoError(t, c.MoveLeader(ctx, key, 1))
		require.Greater(t, termOf(c, key), term+1, "it has lost and won")
		for _, n := range c.Nodes() {
			take(n, fmt.Sprintf("round %d, node %d, under the leader that came back", round, n.Number()))
		}
		awaitNothingLeft(t, c)
	}
}

// termOf returns the term of a key's group as node 1 knows it.
func termOf(c *locktest.Cluster, key string) uint64 {
	return c.Node(1).Coordinator().Status().Groups[c.Group(key)-1].Term
}
