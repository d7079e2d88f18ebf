package coordinator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/locktest"
)

// Node 2 leads and dies while an acquire of node 1 is under way. Each case cuts
// the links so that the log entry gets as far as its name says.
func TestS51TheLeaderDiesInTheMiddleOfAnAcquire(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	for _, phase := range []struct {
		name    string
		cuts    [][2]int
		reached func() bool // the entry has got there
	}{
		{"AppendedByTheLeaderAlone", [][2]int{{2, 1}, {2, 3}}, nil},
		{"AppendedByOneFollower", [][2]int{{2, 1}, {3, 2}}, nil},
		{"CommittedAndNotTold", [][2]int{{2, 1}}, func() bool {
			holder := inspect(t, c.Node(3), "key").Holder
			return holder != nil && holder.Node == 1
		}},
	} {
		whole := t.Run(phase.name, func(t *testing.T) {
			// Then the only frames from node 1 to node 2 are of the key's group.
			for group := 1; group <= locktest.Groups; group++ {
				key := c.KeyIn(group, "key")
				if group != c.Group("key") {
					require.NoError(t, c.MoveLeader(ctx, key, 3))
				}
			}
			require.NoError(t, c.MoveLeader(ctx, "key", 2))
			require.NoError(t, c.WaitReady(ctx))
			first := acquire(t, c.Node(1), "key")
			release(t, first)
			changes, lost := c.Faults().LeaderChanges, c.Traffic(2, 1).Dropped

			for _, cut := range phase.cuts {
				c.BlackHole(cut[0], cut[1])
			}
			asked := c.Traffic(1, 2).Delivered
			l := ask(t, c.Node(1), "key")
			require.NoError(t, c.Await(ctx, "the leader to be asked", func() bool { return c.Traffic(1, 2).Delivered > asked }))
			if phase.reached == nil {
				// The entry is in one of the next frames, whatever becomes of them.
				to := c.Traffic(2, 3)
				phase.reached = func() bool {
					now := c.Traffic(2, 3)
					return now.Delivered+now.Dropped > to.Delivered+to.Dropped+1
				}
			}
			require.NoError(t, c.Await(ctx, "the entry to get so far", phase.reached))
			l.waits()
			c.Node(2).Kill()

			lease := l.granted()
			require.Equal(t, first.Token()+1, lease.Token(), "the request took one token")
			require.Greater(t, c.Faults().LeaderChanges, changes)
			require.Greater(t, c.Traffic(2, 1).Dropped, lost)
			other := acquire(t, c.Node(3), "{key}other")
			require.Equal(t, lease.Token()+1, other.Token(), "nothing else was granted")
			require.Empty(t, inspect(t, c.Node(3), "key").Waiters, "it does not wait behind itself")

			c.Heal()
			c.Node(2).Restart()
			require.NoError(t, c.WaitReady(ctx))
			require.NoError(t, c.WaitEqualDumps(ctx))
			requireOpen(t, lease)
			require.Equal(t, lease.Token(), inspect(t, c.Node(2), "key").Holder.Token)
			release(t, lease)
			release(t, other)
			awaitNothingLeft(t, c)
		})
		if !whole {
			return // the cluster is not as the next case expects it
		}
	}
}
