package coordinator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// What is true of leases while leaders come and go.

// awaitElection waits until a node knows that the group of a key is in a later
// term, and returns how many have begun.
func awaitElection(t *testing.T, c *locktest.Cluster, node int, key string, term uint64) uint64 {
	t.Helper()
	require.NoError(t, c.Await(patient(t), "an election", func() bool { return groupOn(c, node, key).Term > term }))
	return groupOn(c, node, key).Term - term
}

// The case speaks of sessions: those are the leases, and the start of the node
// that died. It asks for 200 of them in 5 elections; these are 300.
func TestS41WhatIsBornDuringAnElectionLives(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	const elections, each = 5, 20
	for round := range elections {
		leader := round%3 + 1
		require.NoError(t, c.MoveLeader(ctx, "key", leader))
		term := groupOn(c, leader%3+1, "key").Term
		var born []*inLine
		asks := func(node int) {
			for i := range each {
				born = append(born, ask(t, c.Node(node), fmt.Sprintf("{key}%d-%d", node, i)))
			}
		}
		c.Isolate(leader) // nothing is granted before somebody else leads
		asks(leader%3 + 1)
		asks((leader+1)%3 + 1)
		c.Node(leader).Kill()
		c.Heal()
		c.Node(leader).Restart()
		asks(leader)
		var leases []*coordinator.Lease
		for _, l := range born {
			leases = append(leases, l.granted())
		}
		awaitElection(t, c, leader%3+1, "key", term)

		// Longer than the TTL, and each quarter is renewed.
		for range 5 {
			advance(c, long/4, 1, 2, 3)
			for _, lease := range leases {
				require.NoError(t, lease.Ensure(ctx, long*85/100))
			}
		}
		for _, lease := range leases {
			requireOpen(t, lease)
		}
		errs := make([]error, len(leases))
		parallel(len(leases), func(i int) { errs[i] = leases[i].Release(ctx) })
		for _, err := range errs {
			require.NoError(t, err)
		}
	}
	require.Zero(t, c.Faults().ExpiriesProposed)
	awaitNothingLeft(t, c)
}

func TestS44TheTimeThatRemainsIsNeverOutsideTheWindow(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	const elections = 20
	one := acquire(t, c.Node(1), "key")
	set, err := c.Node(1).Coordinator().AcquireAll(ctx, []string{c.KeyIn(1, "a"), c.KeyIn(2, "b"), c.KeyIn(3, "c")})
	require.NoError(t, err)
	look := func() {
		for _, h := range []handle{one, set} {
			if left := h.Remaining(); left < 0 || left > long*9/10 {
				t.Errorf("%v remain", left)
			}
		}
	}
	looked, stopped := make(chan struct{}), make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(stopped)
		again := time.NewTicker(5 * time.Millisecond)
		defer again.Stop()
		for {
			look()
			select {
			case <-stop:
				return
			case looked <- struct{}{}:
			case <-again.C:
			}
		}
	}()
	changes := c.Faults().LeaderChanges
	for i := range elections {
		require.NoError(t, c.MoveLeader(ctx, "key", (i+1)%3+1))
		advance(c, long/10, 1, 2, 3)
		require.NoError(t, one.Ensure(ctx, long*85/100))
		require.NoError(t, set.Ensure(ctx, long*85/100))
		<-looked
	}
	require.GreaterOrEqual(t, c.Faults().LeaderChanges, changes+elections)
	close(stop)
	<-stopped

	// Up to the end of the window, over it, and after a jump of a century.
	c.Node(1).Clock().Freeze()
	c.Isolate(1)
	for one.Held() {
		advance(c, max(one.Remaining()/2, 1), 1)
		look()
	}
	for _, jump := range []time.Duration{1, long, 100 * 365 * 24 * time.Hour} {
		advance(c, jump, 1)
		require.Zero(t, one.Remaining())
		require.False(t, one.Held())
	}
	require.Zero(t, set.Remaining())
	require.ErrorIs(t, set.Err(), coordinator.ErrLeaseLost)
	awaitCut(t, c, 1)
}

// A session is what a node has: it stops renewing when the node dies. The
// nodes' other clocks are hours apart too.
func TestS47ExpiryDependsOnNoNodesWallClock(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	shifts := map[int]time.Duration{1: time.Hour, 2: 0, 3: -time.Hour}
	for node, shift := range shifts {
		c.Node(node).Clock().ShiftWall(shift)
		c.Node(node).Clock().Advance(time.Hour + shift)
	}
	// passes shows that the group goes on, and so could have ended something.
	passes := func(n *locktest.Node) {
		release(t, acquire(t, n, "{key}other", coordinator.WithTTL(longer)))
	}
	for leader := 1; leader <= 3; leader++ {
		holder, third := leader%3+1, (leader+1)%3+1
		require.NoError(t, c.MoveLeader(ctx, "key", leader))
		lease := acquire(t, c.Node(holder), "key")
		require.WithinDuration(t, time.Now().Add(shifts[holder]), inspect(t, c.Node(third), "key").Holder.Since, patience, "its wall clock is shown")
		next := ask(t, c.Node(third), "key", coordinator.WithTTL(longer))
		awaitLine(t, c, c.Node(third), "key", 1)
		before := c.Faults().ExpiriesProposed
		c.Node(holder).Kill()

		// Not before the TTL, as it passes at each of the two that may lead.
		for _, to := range []int{leader, third, leader, third} {
			require.NoError(t, c.MoveLeader(ctx, "key", to))
			passes(c.Node(third))
			letPass(t, c, long/5, leader, third)
		}
		passes(c.Node(third))
		next.waits()
		require.Equal(t, before, c.Faults().ExpiriesProposed)
		require.NoError(t, c.MoveLeader(ctx, "key", leader))
		advance(c, 2*long-4*(long/5), leader, third)
		require.Greater(t, next.granted().Token(), lease.Token())
		require.Greater(t, c.Faults().ExpiriesProposed, before)

		release(t, next.lease)
		c.Node(holder).Restart()
		require.NoError(t, c.WaitReady(ctx))
	}
}
