package coordinator_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// How a node keeps what it has, and when it stops.

func TestS69OneFollowerDownCostsNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	for _, leader := range []int{1, 2} { // the holder's own node, and another
		require.NoError(t, c.MoveLeader(ctx, "key", leader))
		lease := acquire(t, c.Node(1), "key")
		c.Node(3).Kill()
		behind := groupOn(c, 1, "key").Applied
		for range 20 {
			advance(c, long/4, 1, 2)
			require.NoError(t, lease.Ensure(ctx, long*85/100))
		}
		require.GreaterOrEqual(t, groupOn(c, 1, "key").Applied, behind+20, "it was renewed without the third")
		passAt(t, c, leader, 3-leader, long/10, "key") // the leader has looked at who was heard of
		advance(c, long/10, 3-leader)
		require.NoError(t, lease.Ensure(ctx, long*85/100))
		requireOpen(t, lease)
		release(t, lease)
		again, err := try(t, c.Node(1), "key")
		require.NoError(t, err)
		require.Greater(t, again.Token(), lease.Token())
		release(t, again)
		require.False(t, c.Node(3).Running())
		c.Node(3).Restart()
		require.NoError(t, c.WaitReady(ctx))
	}
	status := c.Node(1).Coordinator().Status()
	require.Zero(t, status.Expiries)
	require.Zero(t, status.LostWindow)
	awaitNothingLeft(t, c)
}

// A group knows its members for ever, so that it forgets a session is that it
// has expired what a living node has. A cluster that starts anew from nothing
// is another one.
func TestS70WhatTheGroupNoLongerHasIsNotRenewed(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	const count = 20
	var leases []*coordinator.Lease
	for i := range count {
		leases = append(leases, acquire(t, c.Node(1), fmt.Sprintf("{key}%d", i)))
	}
	c.Node(1).Clock().Freeze() // it renews nothing by itself, and will not lose anything by its clock
	require.NoError(t, c.MoveLeader(ctx, "key", 2))
	c.Isolate(1)
	// Again and again, because a new leader gives everybody half a TTL.
	require.NoError(t, c.Await(ctx, "the leases to be expired", func() bool {
		advance(c, long, 2, 3)
		return groupOn(c, 2, "key").Leases == 0
	}))
	for _, lease := range leases {
		require.True(t, lease.Held(), "the pause was not counted by its clock")
	}
	c.Heal()
	for _, lease := range leases {
		awaitEnd(t, lease)
		require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
	}
	c.Node(1).Clock().Thaw()
	awaitNothingLeft(t, c)
	status := c.Node(1).Coordinator().Status()
	require.EqualValues(t, count, status.LostGroup)
	require.NotZero(t, c.Faults().ExpiriesProposed)

	// The same node has new ones, and says nothing more of the old.
	again := acquire(t, c.Node(1), "{key}0")
	require.Greater(t, again.Token(), leases[count-1].Token())
	release(t, again)
	require.NoError(t, c.WaitReady(ctx))
	before, changes := batches(c.Node(1)), c.Node(1).Coordinator().Status().LeaderChanges
	for range 5 {
		advance(c, long, 1)
		release(t, acquire(t, c.Node(1), "{key}1"))
	}
	changes = c.Node(1).Coordinator().Status().LeaderChanges - changes // after one, a node renews
	require.LessOrEqual(t, batches(c.Node(1)), before+10+changes, "a batch for each acquire and release")
}

// The case asks for 100 sessions: 100 leases of a node, in three groups.
func TestS71ChannelsThatNobodyReadsCostNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	ctx := patient(t)
	const count, ttl, quarters = 100, locktest.TTL, 12
	c.Node(1).Clock().Freeze()
	type channels struct{ done, endangered <-chan struct{} }
	var unread []channels
	var leases []*coordinator.Lease
	for i := range count {
		lease := acquire(t, c.Node(1), fmt.Sprintf("key-%d", i), coordinator.WithTTL(ttl))
		leases = append(leases, lease)
		unread = append(unread, channels{lease.Done(), lease.Endangered()})
	}
	for _, g := range c.Node(1).Coordinator().Status().Groups {
		require.NotZero(t, g.Leases)
	}
	before := batches(c.Node(1))
	for range quarters {
		advance(c, ttl/4, 1)
		// By a clock that stands still, the whole window remains then.
		require.NoError(t, c.Await(ctx, "each group to be renewed", func() bool {
			return !slices.ContainsFunc(leases, func(l *coordinator.Lease) bool { return l.Remaining() < ttl*9/10 })
		}))
	}
	require.Equal(t, before+quarters*locktest.Groups, batches(c.Node(1)), "one a group in each quarter of the TTL, for all leases")
	for _, lease := range leases {
		requireOpen(t, lease)
	}
	advance(c, ttl, 1)
	for _, u := range unread {
		<-u.done
		<-u.endangered
	}
	for _, lease := range leases {
		require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
	}
	release(t, acquire(t, c.Node(1), "key-0"))
	awaitNothingLeft(t, c)
}

func TestS76PatientWaitersKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	const ttls = 20
	var probes []*coordinator.Lease // show that each node was heard of
	for node := 1; node <= 3; node++ {
		probes = append(probes, acquire(t, c.Node(node), fmt.Sprintf("{key}%d", node)))
	}
	lease := acquire(t, c.Node(1), "key")
	var line []*inLine
	for i, node := range []int{2, 3, 1} {
		line = append(line, ask(t, c.Node(node), "key"))
		awaitLine(t, c, c.Node(1), "key", i+1)
	}
	for range ttls * 4 {
		advance(c, long/4, 1, 2, 3)
		for _, probe := range probes {
			require.NoError(t, probe.Ensure(ctx, long*85/100))
		}
	}
	require.Len(t, inspect(t, c.Node(2), "key").Waiters, len(line))
	for i, l := range line {
		for _, later := range line[i:] {
			later.waits()
		}
		release(t, lease)
		require.Greater(t, l.granted().Token(), lease.Token())
		lease = l.lease
	}
	require.Zero(t, c.Faults().ExpiriesProposed)
}
