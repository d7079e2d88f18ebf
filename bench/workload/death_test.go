package workload

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/bench/crew"
)

func grant(began, got crew.Instant) crew.Grant { return crew.Grant{Began: began, Got: got} }

func TestAfterDeathTheFirstGrantCountsThatWasAskedForSince(t *testing.T) {
	const death = 1000
	for _, c := range []struct {
		name   string
		grants []crew.Grant
		want   time.Duration
	}{
		{"TheFirst", []crew.Grant{grant(900, 910), grant(1300, 1400), grant(1010, 1350), grant(1351, 1360)}, 350},
		{"OneThatWasAskedForBeforeCouldHaveBeenGivenBefore", []crew.Grant{grant(900, 910), grant(990, 1001), grant(1002, 1500)}, 500},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := afterDeath(c.grants, death)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	_, err := afterDeath([]crew.Grant{grant(1001, 1002)}, death)
	require.ErrorContains(t, err, "before the death")
	_, err = afterDeath([]crew.Grant{grant(900, 910), grant(990, 1500)}, death)
	require.ErrorContains(t, err, "any more")
}

// The leader is killed while the workers at the other members are at work, and
// started again.
func TestTheLeaderIsKilledAndRevived(t *testing.T) {
	f := &failing{dead: make(chan struct{})}
	f.fakeCluster = newFakeCluster(func(_ int, p crew.Plan) (crew.Tally, error) {
		before := crew.Grant{Began: 1, Got: 2}
		<-f.dead
		began := crew.Now()
		return crew.Tally{Counted: p.For, Grants: []crew.Grant{before, {Began: began, Got: began.Add(time.Minute)}}}, nil
	})
	v, err := find(t, "leader").Measure(context.Background(), Trial{Cluster: f, Watch: time.Hour})
	require.NoError(t, err)
	require.Equal(t, []int{1}, f.killed)
	require.Equal(t, []int{1}, f.revived)
	require.GreaterOrEqual(t, v[ToNextGrant.Name], 60_000.0)
	require.Empty(t, f.sites[1].plans, "the leader's own clients are dead too")
	for _, site := range []int{0, 2} {
		plan := f.sites[site].plans[0]
		require.True(t, plan.Patient && plan.Stamps)
		require.Equal(t, 1, plan.Workers)
		require.Equal(t, time.Hour, plan.For)
	}
}

func newHolding(t *testing.T, grants func(death crew.Instant) []crew.Grant) *holding {
	t.Helper()
	h := &holding{holder: &fakeHolder{dead: make(chan struct{})}}
	h.fakeCluster = newFakeCluster(func(_ int, p crew.Plan) (crew.Tally, error) {
		<-h.holder.dead
		return crew.Tally{Counted: p.For, Grants: grants(crew.Now())}, nil
	})
	h.holder.site = h.sites[2]
	return h
}

func TestTheHolderIsKilledAndTheNextInLineGetsTheKey(t *testing.T) {
	h := newHolding(t, func(now crew.Instant) []crew.Grant { return []crew.Grant{{Began: 1, Got: now.Add(2 * holderTTL)}} })
	v, err := find(t, "holder").Measure(context.Background(), Trial{Cluster: h, Round: 2})
	require.NoError(t, err)
	require.GreaterOrEqual(t, v[ToNextGrantByTTL.Name], 2.0)
	require.InDelta(t, v[ToNextGrant.Name], v[ToNextGrantByTTL.Name]*Milliseconds(holderTTL), 1e-6)
	require.Equal(t, "holder/2", h.key)
	require.Equal(t, holderTTL, h.ttl)
	require.True(t, h.holder.restored)
	require.Equal(t, "holder/2", h.sites[2].plans[0].Prefix)
	require.Equal(t, 1, h.sites[2].plans[0].Turns)
}

func TestAKeyThatWasFreeBeforeTheDeathIsAFailure(t *testing.T) {
	h := newHolding(t, func(crew.Instant) []crew.Grant { return []crew.Grant{{Began: 1, Got: 2}} })
	_, err := find(t, "holder").Measure(context.Background(), Trial{Cluster: h})
	require.ErrorContains(t, err, "not held until the death")
	require.True(t, h.holder.restored)
}

func TestAClusterThatCantDoItIsUnfit(t *testing.T) {
	c := newFakeCluster(nil)
	for _, name := range []string{"leader", "holder", "leases", "renewing", "waiters"} {
		_, err := find(t, name).Measure(context.Background(), Trial{Cluster: c})
		var unfit *UnfitError
		require.True(t, errors.As(err, &unfit), name)
		require.NotEmpty(t, unfit.Why)
	}
}
