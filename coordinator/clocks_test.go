package coordinator_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// Clocks that jump, stand still, or run at different speeds. Most of the cases
// say session for what a node has in the groups.

// S126: the wall clock of a node jumps by an hour, that of the leader and that
// of a follower, forward and back. It is only shown to others.
func TestS126TheWallClockJumps(t *testing.T) {
	t.Parallel()
	b := newBare(t, false)
	var jumps [3]atomic.Int64
	var nodes []*coordinator.Coordinator
	for i := range jumps {
		nodes = append(nodes, b.open(coordinator.NodeID(i+1), inject.Env{Wall: func() time.Time {
			return time.Now().Add(time.Duration(jumps[i].Load()))
		}}))
	}
	var leases []*coordinator.Lease
	for i, c := range nodes {
		require.NoError(t, c.WaitReady(patient(t)))
		lease, err := c.Acquire(patient(t), fmt.Sprint("lease of node ", i+1))
		require.NoError(t, err)
		leases = append(leases, lease)
	}
	leader := -1
	require.Eventually(t, func() bool {
		leader = int(nodes[0].Status().Groups[0].Leader) - 1
		return leader >= 0
	}, patience, time.Millisecond, "a leader")
	for round, at := range []int{leader, (leader + 1) % 3} {
		for _, jump := range []time.Duration{time.Hour, 0, -time.Hour} {
			jumps[at].Store(int64(jump))
			key := fmt.Sprintf("round %d, jump %v", round, jump)
			began := time.Now()
			probe, err := nodes[at].Acquire(patient(t), key)
			require.NoError(t, err)
			info, err := answered(t, func(ctx context.Context) (coordinator.KeyInfo, error) {
				return nodes[(at+1)%3].Inspect(ctx, key)
			})
			require.NoError(t, err)
			require.WithinDuration(t, began.Add(jump), info.Holder.Since, 30*time.Minute, "the clock has jumped")
			release(t, probe)
			for i, lease := range leases {
				require.NoError(t, lease.Ensure(patient(t), long*9/10-time.Minute), "node %d after %s", i+1, key)
				requireOpen(t, lease)
			}
		}
	}
	for i, c := range nodes {
		s := c.Status()
		require.Zero(t, s.LostWindow+s.LostLimit+s.LostGroup+s.Expiries, "node %d", i+1)
	}
	stopAll(t, nodes, (*coordinator.Coordinator).Close)
}

// S128: a node stands still for twice the TTL. The first thing that its program
// does then is to ask its lease, before any timer of the process has run.
func TestS128AStopTheWorldPauseOfTheHolder(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	const rounds = 5
	for round := range rounds {
		key := fmt.Sprint("key ", round)
		lease := acquire(t, c.Node(1), key)
		c.Node(1).Clock().Freeze() // nothing of the node happens by time
		c.Isolate(1)               // nor by a message
		next := ask(t, c.Node(2), key, coordinator.WithTTL(longer))
		letPass(t, c, 2*long, 2, 3)
		second := next.granted()

		// The clock shows the pause when it goes on, all at once.
		advance(c, 2*long, 1)
		require.False(t, lease.Held(), "round %d", round)
		require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
		require.Error(t, lease.Context().Err())
		require.Greater(t, second.Token(), lease.Token())
		c.Node(1).Clock().Thaw()
		c.Heal()
		awaitEnd(t, lease)
		require.NoError(t, c.WaitReady(patient(t)))
		release(t, second)
	}
	require.GreaterOrEqual(t, c.Faults().ExpiriesProposed, uint64(rounds))
	awaitCut(t, c, 1)
}

// S131: the holder's clock is 5 % slow, those of the others are 5 % fast. The
// holder is cut off in many phases of its renewing: after a batch that it knows
// to be applied, that only the leader knows of, or that nobody has got.
func TestS131ClocksOfDifferentSpeed(t *testing.T) {
	t.Parallel()
	type cut struct {
		name    string
		cut     func(*locktest.Cluster)
		expires bool // the holder's own release can't come first
	}
	cuts := []cut{
		{"BothWaysAtOnce", func(c *locktest.Cluster) { c.Isolate(1) }, true},
		{"WhatItSaysIsLost", func(c *locktest.Cluster) { c.BlackHole(1, 2); c.BlackHole(1, 3) }, true},
		{"WhatItHearsIsLost", func(c *locktest.Cluster) { c.BlackHole(2, 1); c.BlackHole(3, 1) }, false},
	}
	random := newRandom(t)
	phases := make([][]int, len(cuts)) // how many batches are seen before the cut
	for i := range phases {
		phases[i] = []int{0, 1, random.IntN(20), random.IntN(20)}
	}
	parallel(len(cuts), func(i int) {
		t.Run(cuts[i].name, func(t *testing.T) {
			c := newCluster(t, 3)
			c.Node(1).Clock().SetRate(0.95)
			c.Node(2).Clock().SetRate(1.05)
			c.Node(3).Clock().SetRate(1.05)
			for round, phase := range phases[i] {
				lease, next, before := cutWhileHeld(t, c, phase, func() { cuts[i].cut(c) })
				require.NoError(t, c.Await(patient(t), "the end of the lease", func() bool {
					select {
					case <-next.done:
						return true
					default:
						return c.Faults().ExpiriesProposed > before.expiries
					}
				}))
				require.False(t, lease.Held(), "round %d: the holder is later than the group", round)
				require.Greater(t, next.granted().Token(), lease.Token())
				require.Greater(t, droppedAt(c, 1), before.dropped)
				if cuts[i].expires {
					require.Greater(t, c.Faults().ExpiriesProposed, before.expiries)
				}
				c.Heal()
				require.NoError(t, c.WaitReady(patient(t)))
				release(t, next.lease)
			}
		})
	})
}
