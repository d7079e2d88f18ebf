package workload

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/bench/peer"
)

func newLoading() *loading {
	return &loading{
		fakeCluster: newFakeCluster(nil), found: 5,
		startedIn: [peer.Members]time.Duration{time.Second, 3 * time.Second, 2 * time.Second},
	}
}

func TestLeasesAreWeighedByReplicaAndHolder(t *testing.T) {
	l := newLoading()
	v, err := find(t, "leases").Measure(context.Background(), Trial{Cluster: l, Leases: 3000, Idle: time.Millisecond})
	require.NoError(t, err)
	require.Equal(t, [peer.Members]int{1000, 1000, 1000}, l.leases)
	require.InDelta(t, 100, v[HeapReplica.Name], 1e-9)
	require.InDelta(t, 40, v[HeapHolder.Name], 1e-9)
	require.InDelta(t, 100+40/3.0, v[HeapPerLease.Name], 1e-9)
	require.Positive(t, v[FillPerSecond.Name])
	require.Positive(t, v[Renewals.Name])
	require.Equal(t, 3000.0, v[StartUp.Name], "the slowest counts")
	require.Equal(t, 1500.0, v[StartUpOpen.Name])
	require.Contains(t, v, StartUpCPU.Name)
	require.Equal(t, 5.0, v[LeasesFound.Name])
}

func TestALeaseThatAMemberDoesNotKnowIsAFailure(t *testing.T) {
	l := newLoading()
	l.forgetful = true
	_, err := find(t, "leases").Measure(context.Background(), Trial{Cluster: l, Leases: 300, Idle: time.Millisecond})
	require.ErrorContains(t, err, "member 3 knows of 299 leases")
	_, err = find(t, "waiters").Measure(context.Background(), Trial{Cluster: l, Waiters: 300})
	require.ErrorContains(t, err, "member 3 knows of 299 requests")
}

func TestAStartWithoutLeasesIsAFailure(t *testing.T) {
	l := newLoading()
	l.found = 0
	_, err := find(t, "leases").Measure(context.Background(), Trial{Cluster: l, Leases: 300, Idle: time.Millisecond})
	require.ErrorContains(t, err, "no member found a lease")
}

func TestFewLeasesAreWatchedForTheirRenewals(t *testing.T) {
	l := newLoading()
	v, err := find(t, "renewing").Measure(context.Background(), Trial{Cluster: l, Leases: 1_000_000, Idle: time.Millisecond})
	require.NoError(t, err)
	require.Positive(t, v[Renewals.Name])
	require.Equal(t, [peer.Members]int{fewLeases, fewLeases, fewLeases}, l.leases)
}

func TestWaitersAreWeighedAndLeave(t *testing.T) {
	l := newLoading()
	v, err := find(t, "waiters").Measure(context.Background(), Trial{Cluster: l, Waiters: 3000})
	require.NoError(t, err)
	require.Equal(t, [peer.Members]int{1000, 1000, 1000}, l.waits)
	require.Equal(t, [peer.Members]int{waiterLines, 0, 0}, l.leases, "the keys are held")
	require.Equal(t, waiterLines, l.linesOfWaiters)
	require.InDelta(t, 70+30/3.0, v[HeapPerWaiter.Name], 1e-9)
	require.InDelta(t, 30, v[HeapWaiterNode.Name], 1e-9)
	require.InDelta(t, 5, v[StacksWaiterNode.Name], 1e-9)
	require.Equal(t, [peer.Members]bool{true, true, true}, l.left)
}
