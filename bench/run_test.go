package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/report"
	"github.com/palisade-go/palisade/bench/workload"
)

// fakePeer gives out locks that cost nothing.
type fakePeer struct {
	name, missing string
	broken        error // Open fails
	opened        []int // the groups of each cluster
	open          int   // clusters that are open
}

func (p *fakePeer) Name() string    { return p.name }
func (p *fakePeer) Version() string { return "1.0" }
func (p *fakePeer) Missing() string { return p.missing }

func (p *fakePeer) Open(_ context.Context, s peer.Setup) (peer.Cluster, error) {
	p.opened = append(p.opened, s.Groups)
	if p.broken != nil {
		return nil, p.broken
	}
	if entries, err := os.ReadDir(s.Dir); err != nil || len(entries) > 0 {
		return nil, fmt.Errorf("the directory should be empty: %v, %w", entries, err)
	}
	p.open++
	c := &fakeCluster{peer: p}
	for i := range c.sites {
		c.sites[i] = crew.NewSite(func(context.Context) (crew.Locker, error) { return nobody{}, nil })
	}
	return c, nil
}

// groupedPeer has eight groups by itself.
type groupedPeer struct{ fakePeer }

func (*groupedPeer) DefaultGroups() int { return 8 }

type fakeCluster struct {
	peer  *fakePeer
	sites [peer.Members]*crew.Site
}

func (c *fakeCluster) Sites() []peer.Site { return peer.SitesOf(c.sites[:]) }
func (c *fakeCluster) Processes() []int   { return nil }

func (c *fakeCluster) Close() error {
	c.peer.open--
	return crew.CloseAll(c.sites[:])
}

// nobody is a locker without locks.
type nobody struct{}

func (nobody) Acquire(context.Context, []string) error { return nil }
func (nobody) Release(context.Context) error           { return nil }
func (nobody) Close() error                            { return nil }

// newTestRun makes a run in a directory of its own, which is not looked at.
func newTestRun(t *testing.T, only string, peers ...peer.Peer) (*run, *bytes.Buffer) {
	t.Helper()
	chosen, err := workload.Select(only)
	require.NoError(t, err)
	var screen bytes.Buffer
	r := newRun(settings{
		peers: peers, workloads: chosen, rounds: 1, dir: t.TempDir(), out: t.TempDir(),
		trial: workload.Trial{For: 20 * time.Millisecond, Idle: time.Millisecond, Leases: 3, Waiters: 3},
	}, &screen)
	r.base = t.TempDir()
	return r, &screen
}

func TestARunInMemoryIsRefused(t *testing.T) {
	const shared = "/dev/shm"
	if peer.CheckDisk(shared) == nil {
		t.Skipf("%s is not in memory here", shared)
	}
	p := &fakePeer{name: "fake"}
	r, _ := newTestRun(t, "own-1", p)
	r.dir = shared
	require.ErrorContains(t, r.everything(context.Background()), "-dir")
	require.Empty(t, p.opened)
	require.Empty(t, r.results.Samples)
}

func TestAPeerThatIsNotThereIsNamedWithItsCure(t *testing.T) {
	there := &fakePeer{name: "there"}
	gone := &fakePeer{name: "gone", missing: "not installed (apt-get install gone)"}
	r, screen := newTestRun(t, "own-1", there, gone)
	require.Equal(t, []peer.Peer{there}, r.present())
	require.Contains(t, r.results.Gaps, report.Gap{Peer: "gone", Why: "not installed (apt-get install gone)"})
	require.Contains(t, screen.String(), "apt-get install gone")
	require.Equal(t, map[string]string{"there": "1.0"}, r.results.Peers)
	require.False(t, r.results.Failed(), "that is no failure")
	require.NoError(t, r.publish())
	tables, err := os.ReadFile(r.out + "/tables.md")
	require.NoError(t, err)
	require.Contains(t, string(tables), "gone: not installed (apt-get install gone)")
}

// plan is the names of the workloads of each cluster, with its groups.
func plan(list []clusterPlan) []string {
	var all []string
	for _, c := range list {
		text := fmt.Sprint(c.groups)
		for _, w := range c.workloads {
			text += " " + w.Name
		}
		all = append(all, text)
	}
	return all
}

func TestWorkloadsShareAClusterUnlessTheyWantOneOfTheirOwn(t *testing.T) {
	const only = "idle,idle-64,own-1,groups,leases,waiters"
	p := &groupedPeer{fakePeer{name: "grouped"}}
	r, _ := newTestRun(t, only, p)
	require.Equal(t, []string{"0 idle own-1 groups-8", "64 idle-64 groups-64", "1 groups-1", "0 leases", "0 waiters"}, plan(r.clusters(p, 1)))
	require.Equal(t, []string{"0 idle own-1 groups-8", "64 idle-64 groups-64", "1 groups-1"}, plan(r.clusters(p, 2)))
	require.Empty(t, r.results.Gaps)

	plain := &fakePeer{name: "plain"}
	require.Equal(t, []string{"0 idle own-1", "0 leases", "0 waiters"}, plan(r.clusters(plain, 1)))
	require.Len(t, r.results.Gaps, 4)
	r.clusters(plain, 2)
	require.Len(t, r.results.Gaps, 4, "said once")
	require.False(t, r.results.Failed())
}

func TestAClusterIsMeasuredAndClosed(t *testing.T) {
	p := &fakePeer{name: "fake"}
	r, _ := newTestRun(t, "own-1,one-16,leases", p)
	for _, c := range r.clusters(p, 1) {
		r.cluster(context.Background(), p, c, r.trial)
	}
	require.False(t, r.results.Failed(), "%v", r.results.Gaps)
	require.Len(t, r.results.Samples, 2)
	require.Positive(t, r.results.Spread("own-1", "fake", workload.PairsPerSecond.Name).Median)
	require.Equal(t, []report.Gap{{Peer: "fake", Workload: "leases", Why: "its members can't be weighed"}}, r.results.Gaps)
	require.Zero(t, p.open)
	left, err := os.ReadDir(r.base)
	require.NoError(t, err)
	require.Empty(t, left, "no directory stays")
}

func TestAfterAFailureTheRestGetsANewCluster(t *testing.T) {
	p := &fakePeer{name: "fake"}
	r, screen := newTestRun(t, "own-1", p)
	own := r.workloads[0]
	broken := own
	broken.Name = "broken"
	broken.Measure = func(context.Context, workload.Trial) (workload.Values, error) { return nil, errors.New("it broke") }
	r.cluster(context.Background(), p, clusterPlan{workloads: []workload.Workload{broken, own}}, r.trial)
	require.Equal(t, []report.Gap{{Peer: "fake", Workload: "broken", Why: "it broke", Failed: true}}, r.results.Gaps)
	require.Contains(t, screen.String(), "FAILED: it broke")
	require.True(t, r.results.Failed())
	require.Len(t, r.results.Samples, 1)
	require.Equal(t, []int{0, 0}, p.opened)
	require.Zero(t, p.open)
}

func TestAPeerThatDoesNotOpenIsTriedOnce(t *testing.T) {
	p := &fakePeer{name: "fake", broken: errors.New("no port")}
	r, _ := newTestRun(t, "own-1,own-16", p)
	for _, c := range r.clusters(p, 1) {
		r.cluster(context.Background(), p, c, r.trial)
	}
	require.Len(t, p.opened, 1)
	require.Equal(t, []report.Gap{{Peer: "fake", Why: "open: no port", Failed: true}}, r.results.Gaps)
}
