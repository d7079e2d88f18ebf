package statemachine

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQueries(t *testing.T) {
	g := newGroup(t)
	a := acquire(5, "a", "b")
	a.Limit, a.RequestID, a.Metadata = time.Hour, "r", "m"
	g.node(1, a, acquire(3, "c"))
	w := waitFor(1, "b", "x")
	w.TTL, w.Limit = time.Second, time.Minute
	g.node(2, w)
	g.node(3, waitFor(9, "b"), waitFor(2, "a", "b", "c"), waitFor(1, "x"))
	lease := Lease{ID: leaseID(1, 5), Claims: claims("a", "b"), Token: 1, TTL: 10 * time.Second, Limit: time.Hour,
		Last: 1, Place: 1, RequestID: "r", Metadata: "m"}
	other := Lease{ID: leaseID(1, 3), Claims: claims("c"), Token: 2, TTL: 10 * time.Second, Last: 1, Place: 2}
	wait := Wait{ID: leaseID(2, 1), Claims: claims("b", "x"), TTL: time.Second, Limit: time.Minute, Place: 3}

	t.Run("LeaseAndWaitKnowTheirOwn", func(t *testing.T) {
		got, ok := g.m.Lease(leaseID(1, 5))
		require.True(t, ok)
		require.Equal(t, lease, got)
		_, ok = g.m.Lease(leaseID(2, 1))
		require.False(t, ok, "it waits")
		waits, ok := g.m.Wait(leaseID(2, 1))
		require.True(t, ok)
		require.Equal(t, wait, waits)
		_, ok = g.m.Wait(leaseID(1, 5))
		require.False(t, ok, "it holds")
		for _, id := range []LeaseID{{}, leaseID(9, 5), leaseID(1, 6), {Node: 1, Incarnation: 2, Seq: 5}} {
			_, ok = g.m.Lease(id)
			require.False(t, ok)
			_, ok = g.m.Wait(id)
			require.False(t, ok)
			_, ok = g.m.Position(id)
			require.False(t, ok)
		}
	})
	t.Run("HolderIsThatOfTheKeyAndDoesNotCopyItsLine", func(t *testing.T) {
		h, held := g.m.Holder("b")
		require.True(t, held)
		require.Equal(t, Holder{Lease: lease.ID, Key: "b", Token: 1, RequestID: "r", Metadata: "m", TTL: lease.TTL}, h)
		for _, key := range []string{"x", "free"} {
			_, held = g.m.Holder(key)
			require.False(t, held, "%q is reserved or free", key)
		}
		require.Zero(t, testing.AllocsPerRun(100, func() { g.m.Holder("b") }))
	})
	t.Run("KeyShowsHolderAndLine", func(t *testing.T) {
		v, taken := g.m.Key("b")
		require.True(t, taken)
		require.Equal(t, lease, *v.Holder)
		var line []LeaseID
		for _, w := range v.Waiters {
			line = append(line, w.ID)
		}
		require.Equal(t, []LeaseID{leaseID(2, 1), leaseID(3, 9), leaseID(3, 2)}, line)
		v, taken = g.m.Key("x")
		require.True(t, taken)
		require.Nil(t, v.Holder, "reserved, not held")
		require.Len(t, v.Waiters, 2)
		_, taken = g.m.Key("free")
		require.False(t, taken)
	})
	t.Run("WhatIsReturnedIsACopy", func(t *testing.T) {
		v, _ := g.m.Key("b")
		v.Holder.Claims[0].Key = "changed"
		v.Waiters[0].Claims[0].Key = "changed"
		require.NoError(t, g.m.Check())
	})
	t.Run("PositionIsThatOfTheLongestQueue", func(t *testing.T) {
		for id, want := range map[LeaseID]int{leaseID(2, 1): 1, leaseID(3, 9): 2, leaseID(3, 2): 3, leaseID(3, 1): 2} {
			got, ok := g.m.Position(id)
			require.True(t, ok)
			require.Equal(t, want, got, "%v", id)
		}
		_, ok := g.m.Position(leaseID(1, 5))
		require.False(t, ok, "it holds")
	})
	t.Run("OwnedIsSortedBySeq", func(t *testing.T) {
		leases, waits := g.m.Owned(1, 1)
		require.Equal(t, []Lease{other, lease}, leases)
		require.Empty(t, waits)
		leases, waits = g.m.Owned(3, 1)
		require.Empty(t, leases)
		require.Equal(t, []Seq{1, 2, 9}, []Seq{waits[0].ID.Seq, waits[1].ID.Seq, waits[2].ID.Seq})
		leases, waits = g.m.Owned(3, 2)
		require.Empty(t, leases)
		require.Empty(t, waits)
		leases, _ = g.m.Owned(9, 1)
		require.Empty(t, leases)
	})
	t.Run("LimitedLeasesAreLeasesWithALimit", func(t *testing.T) {
		require.Equal(t, []Lease{lease}, slices.Collect(g.m.LimitedLeases()))
		for range g.m.LimitedLeases() {
			break
		}
	})
	t.Run("TTLsAreDistinctAndRise", func(t *testing.T) {
		require.Equal(t, []time.Duration{10 * time.Second}, g.m.TTLs(1))
		require.Equal(t, []time.Duration{time.Second}, g.m.TTLs(2))
		require.Empty(t, g.m.TTLs(9))
	})
	t.Run("PresenceIsFalseForNoMember", func(t *testing.T) {
		_, ok := g.m.Presence(9)
		require.False(t, ok)
		p, ok := g.m.Presence(3)
		require.True(t, ok)
		require.Equal(t, Presence{Node: 3, Incarnation: 1, Last: 1, Speaks: Binary}, p)
		require.Zero(t, g.m.Leftovers(9))
	})
	t.Run("RecordsMayBeLeftEarly", func(t *testing.T) {
		all := len(recordsOf(g.m))
		for n := 1; n <= all; n++ {
			seen := 0
			for range g.m.Records() {
				if seen++; seen == n {
					break
				}
			}
			require.Equal(t, n, seen)
		}
	})
}

func TestTTLsFollowTheRequests(t *testing.T) {
	g := newGroup(t)
	with := func(seq Seq, ttl time.Duration) Acquire {
		a := acquire(seq, manyKeys(int(seq))[seq-1])
		a.TTL = ttl
		return a
	}
	require.Empty(t, g.m.TTLs(1))
	g.node(1, with(1, 3), with(2, 1), with(3, 3), with(4, 2))
	require.Equal(t, []time.Duration{1, 2, 3}, g.m.TTLs(1))
	g.node(1, Release{Seq: 4})
	require.Equal(t, []time.Duration{1, 3}, g.m.TTLs(1))
	g.node(1, Release{Seq: 1})
	require.Equal(t, []time.Duration{1, 3}, g.m.TTLs(1))
	g.m.Apply(g.m.Meta().Applied+1, Batch{Node: 1, Incarnation: 2, Number: 1})
	require.Empty(t, g.m.TTLs(1), "they are the lower incarnation's")
	require.Equal(t, 2, g.m.Leftovers(1))
}

func TestStatsKnowTheLongestQueue(t *testing.T) {
	g := newGroup(t)
	longest := func() int { return g.m.Stats().LongestQueue }
	g.node(1, acquire(1, "a"), acquire(2, "b"))
	require.Zero(t, longest())
	g.node(2, waitFor(1, "a"), waitFor(2, "a"), waitFor(3, "b"))
	require.Equal(t, 2, longest())
	g.node(2, waitFor(4, "a", "b"), waitFor(5, "b"))
	require.Equal(t, 3, longest())
	g.node(2, Cancel{Seq: 1})
	require.Equal(t, 3, longest(), "of b")
	g.node(2, Cancel{Seq: 5})
	require.Equal(t, 2, longest())
	g.node(2, Cancel{Seq: 2}, Cancel{Seq: 3}, Cancel{Seq: 4})
	require.Zero(t, longest())
	require.Equal(t, Stats{Leases: 2, Keys: 2}, g.m.Stats())
}
