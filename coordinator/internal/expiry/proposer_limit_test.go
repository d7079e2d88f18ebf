package expiry

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

func TestLimit(t *testing.T) {
	t.Run("IsDueAtTheGrantPlusLimit", func(t *testing.T) {
		g := led(t)
		id := g.lease(1, time.Hour, 3*second)
		require.Empty(t, g.run(3*second))
		plan := g.due()
		require.Equal(t, statemachine.ExpireLimit{Lease: id}, g.one(plan))
		g.carry(plan.Batches)
		require.Zero(t, g.machine.Stats().Leases)
		require.Empty(t, g.run(10*second))
	})

	t.Run("GetsNoGraceFromAChangeOfLeader", func(t *testing.T) {
		g := newGroup(t)
		id := g.lease(1, time.Hour, 3*second)
		g.at(3 * second)
		g.proposer.TakeOffice(g.now)
		require.Equal(t, statemachine.ExpireLimit{Lease: id}, g.one(g.due()))
	})

	t.Run("IsNotMovedByBatches", func(t *testing.T) {
		g := led(t)
		g.lease(1, time.Hour, 3*second)
		g.run(2 * second)
		g.send(1)
		g.run(3 * second)
		require.Len(t, g.due().Batches, 1)
	})

	t.Run("StartsAtTheGrantNotAtTheRequest", func(t *testing.T) {
		g := led(t)
		first := g.lease(1, time.Hour, 0)
		lease, _ := g.machine.Lease(first)
		g.send(2, statemachine.Acquire{Seq: 1, Claims: lease.Claims, Wait: true, TTL: time.Hour, Limit: 3 * second})
		require.Empty(t, g.run(5*second))
		g.send(1, statemachine.Release{Seq: first.Seq})
		require.Empty(t, g.run(8*second))
		require.Equal(t, statemachine.ExpireLimit{Lease: statemachine.LeaseID{Node: 2, Incarnation: 1, Seq: 1}}, g.one(g.due()))
	})

	t.Run("ShorterThanTheNextWakeUpAsksForAnEarlierOne", func(t *testing.T) {
		g := led(t)
		g.due()
		g.lease(1, time.Hour, 100*time.Millisecond)
		require.True(t, g.sooner)
		g.lease(1, time.Hour, time.Hour)
		require.False(t, g.sooner)
	})

	t.Run("ThatWasLostIsProposedAgainAfterTheRetryInterval", func(t *testing.T) {
		g := led(t)
		id := g.lease(1, time.Hour, 3*second)
		g.run(3 * second)
		require.Len(t, g.due().Batches, 1)
		require.Empty(t, g.run(3*second+retry))
		require.Equal(t, statemachine.ExpireLimit{Lease: id}, g.one(g.due()))
	})

	t.Run("ManyAreSpreadOverEntries", func(t *testing.T) {
		g := led(t)
		for range statemachine.SliceMax + 1 {
			g.lease(1, time.Hour, 3*second)
		}
		g.run(3 * second)
		plan := g.due()
		require.Len(t, plan.Batches, 2)
		require.Len(t, plan.Batches[0], statemachine.SliceMax)
		require.Len(t, plan.Batches[1], 1)
		g.carry(plan.Batches)
		require.Zero(t, g.machine.Stats().Leases)
	})

	t.Run("OfALeaseThatEndedTakesNoMemory", func(t *testing.T) {
		g := newGroup(t)
		for range 1000 {
			id := g.lease(1, time.Hour, time.Hour)
			g.send(1, statemachine.Release{Seq: id.Seq})
		}
		require.Empty(t, g.proposer.limits.entries)
		require.Empty(t, g.proposer.limits.byLease)
	})

	t.Run("OfALeaseGrantedAndReleasedInOneBatchIsNotTracked", func(t *testing.T) {
		g := led(t)
		g.send(1,
			statemachine.Acquire{Seq: 1, Claims: []statemachine.Claim{{Key: "k", Mode: statemachine.Exclusive}}, TTL: second, Limit: second},
			statemachine.Release{Seq: 1})
		require.Empty(t, g.proposer.limits.entries)
	})
}
