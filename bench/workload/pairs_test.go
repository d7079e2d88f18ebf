package workload

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/bench/crew"
)

// tallyOf is what a plan's workers could have done: each ended some pairs, with
// acquires of 2 ms and releases of 1 ms.
func tallyOf(p crew.Plan, pairs func(worker int) uint64) crew.Tally {
	t := crew.Tally{Counted: p.For}
	for i := range p.Workers {
		n := pairs(p.First + i)
		t.Pairs += n
		t.Turns = append(t.Turns, n)
		for range n {
			t.Acquire.Add(2 * time.Millisecond)
			t.Release.Add(time.Millisecond)
		}
	}
	return t
}

func TestWorkersAreSpreadOverTheSitesAndAddedUp(t *testing.T) {
	c := newFakeCluster(func(_ int, p crew.Plan) (crew.Tally, error) {
		return tallyOf(p, func(worker int) uint64 { return uint64(worker) }), nil
	})
	v, err := find(t, "one-16").Measure(context.Background(), Trial{Cluster: c, For: 2 * time.Second, Round: 3})
	require.NoError(t, err)
	require.InDelta(t, 15*16/2/2.0, v[PairsPerSecond.Name], 1e-9)
	require.InEpsilon(t, 2, v[AcquireP50.Name], 0.01)
	require.InEpsilon(t, 2, v[AcquireP999.Name], 0.01)
	require.InEpsilon(t, 1, v[ReleaseP99.Name], 0.01)
	require.Equal(t, 15.0, v[MostTurns.Name])
	require.Equal(t, 0.0, v[FewestTurns.Name])
	for i, workers := range []int{6, 5, 5} {
		require.Equal(t, []int{workers}, c.sites[i].ready, "all are ready before any works")
		require.Len(t, c.sites[i].plans, 1)
		plan := c.sites[i].plans[0]
		require.Equal(t, workers, plan.Workers)
		require.Equal(t, crew.One, plan.Keys)
		require.Equal(t, "one-16/3", plan.Prefix, "the key is another one in each round")
	}
}

// A single worker is at each site for a third of the time.
func TestASingleWorkerVisitsAllSites(t *testing.T) {
	c := newFakeCluster(func(site int, p crew.Plan) (crew.Tally, error) {
		return tallyOf(p, func(int) uint64 { return uint64(10 * (site + 1)) }), nil
	})
	tally, err := Run(context.Background(), c.Sites(), crew.Plan{Workers: 1, Prefix: "k", For: 3 * time.Second})
	require.NoError(t, err)
	require.Equal(t, uint64(60), tally.Pairs)
	require.Equal(t, 3*time.Second, tally.Counted)
	require.InDelta(t, 20, tally.PerSecond(), 1e-9)
	require.Equal(t, []uint64{60}, tally.Turns)
	for _, s := range c.sites {
		require.Len(t, s.plans, 1)
		require.Equal(t, time.Second, s.plans[0].For)
		require.Equal(t, 1, s.plans[0].Workers)
	}
	v, err := Serial(context.Background(), Trial{Cluster: c, For: 3 * time.Second})
	require.NoError(t, err)
	require.InDelta(t, 20, v[PairsPerSecond.Name], 1e-9)
	require.NotContains(t, v, MostTurns.Name, "turns are of interest on one key")
}

func TestASlowPeerIsWatchedLonger(t *testing.T) {
	c := newFakeCluster(func(_ int, p crew.Plan) (crew.Tally, error) {
		return tallyOf(p, func(int) uint64 { return uint64(p.For / (4 * time.Second)) }), nil
	})
	v, err := find(t, "many").Measure(context.Background(), Trial{Cluster: c, For: time.Second})
	require.NoError(t, err)
	require.InDelta(t, 16/5.0, v[PairsPerSecond.Name], 1e-9)
	require.Equal(t, crew.Many, c.sites[0].plans[0].Keys)

	c = newFakeCluster(func(_ int, p crew.Plan) (crew.Tally, error) { return tallyOf(p, func(int) uint64 { return 0 }), nil })
	_, err = find(t, "own-16").Measure(context.Background(), Trial{Cluster: c, For: time.Second})
	require.ErrorIs(t, err, errNoPair)
}

func TestAFailureAtOneSiteIsAFailure(t *testing.T) {
	broken := errors.New("broken")
	c := newFakeCluster(func(site int, p crew.Plan) (crew.Tally, error) {
		if site == 2 {
			return crew.Tally{}, broken
		}
		return tallyOf(p, func(int) uint64 { return 1 }), nil
	})
	for _, name := range []string{"own-1", "own-16", "one-256", "many"} {
		_, err := find(t, name).Measure(context.Background(), Trial{Cluster: c, For: time.Second})
		require.ErrorIs(t, err, broken, name)
	}
}
