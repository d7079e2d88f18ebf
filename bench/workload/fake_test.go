package workload

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/peer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeSite answers each plan by a function, and notes it.
type fakeSite struct {
	run func(crew.Plan) (crew.Tally, error)

	mu    sync.Mutex
	ready []int
	plans []crew.Plan
}

func (s *fakeSite) Ready(_ context.Context, workers int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ready = append(s.ready, workers)
	return nil
}

func (s *fakeSite) Run(_ context.Context, p crew.Plan) (crew.Tally, error) {
	s.mu.Lock()
	s.plans = append(s.plans, p)
	s.mu.Unlock()
	return s.run(p)
}

// fakeCluster is three sites without a peer.
type fakeCluster struct{ sites [peer.Members]*fakeSite }

func newFakeCluster(run func(site int, p crew.Plan) (crew.Tally, error)) *fakeCluster {
	c := &fakeCluster{}
	for i := range c.sites {
		c.sites[i] = &fakeSite{run: func(p crew.Plan) (crew.Tally, error) { return run(i, p) }}
	}
	return c
}

func (c *fakeCluster) Sites() []peer.Site {
	var sites []peer.Site
	for _, s := range c.sites {
		sites = append(sites, s)
	}
	return sites
}

func (c *fakeCluster) Processes() []int { return []int{os.Getpid()} }
func (c *fakeCluster) Close() error     { return nil }

// failing is a fake cluster whose leader is member 1.
type failing struct {
	*fakeCluster
	killed, revived []int
	dead            chan struct{} // closed by Kill
}

func (f *failing) Leader(context.Context, string) (int, error) { return 1, nil }

func (f *failing) Kill(member int) error {
	f.killed = append(f.killed, member)
	close(f.dead)
	return nil
}

func (f *failing) Revive(_ context.Context, member int) error {
	f.revived = append(f.revived, member)
	return nil
}

// holding is a fake cluster with a holder, who is at site 0.
type holding struct {
	*fakeCluster
	holder *fakeHolder
	key    string
	ttl    time.Duration
}

func (h *holding) Hold(_ context.Context, key string, ttl time.Duration) (peer.Holder, error) {
	h.key, h.ttl = key, ttl
	return h.holder, nil
}

type fakeHolder struct {
	site     peer.Site
	dead     chan struct{}
	restored bool
}

func (h *fakeHolder) Site() peer.Site { return h.site }

func (h *fakeHolder) Kill() error {
	close(h.dead)
	return nil
}

func (h *fakeHolder) Restore(context.Context) error {
	h.restored = true
	return nil
}

// loading is a fake cluster with made-up weights: a lease weighs 100 bytes at
// each member and 40 more at its holder, a request in line 70 and 30, and 5 of
// stack.
type loading struct {
	*fakeCluster
	mu             sync.Mutex
	leases, waits  [peer.Members]int
	batches        uint64 // of each member, at each look one more
	forgetful      bool   // a lease is missing
	found          int    // leases in the files at a start
	left           [peer.Members]bool
	startedIn      [peer.Members]time.Duration
	linesOfWaiters int
}

func (l *loading) Fill(_ context.Context, member int, load peer.Load) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leases[member] += load.Count
	return nil
}

func (l *loading) Queue(_ context.Context, member int, load peer.Load) error {
	l.waits[member] += load.Count
	l.linesOfWaiters = load.Lines
	return nil
}

func (l *loading) Leave(_ context.Context, member int) error {
	l.left[member] = true
	return nil
}

func (l *loading) Weigh(context.Context) ([]peer.Weight, error) {
	l.batches++
	all, waits := 0, 0
	for i := range l.leases {
		all += l.leases[i]
		waits += l.waits[i]
	}
	var weights []peer.Weight
	for i := range l.leases {
		weights = append(weights, peer.Weight{
			Heap:   uint64(1_000_000 + 100*all + 40*l.leases[i] + 70*waits + 30*l.waits[i]),
			Stacks: uint64(5 * l.waits[i]), Leases: all, Waits: waits, Batches: l.batches,
		})
	}
	if l.forgetful {
		weights[2].Leases--
		weights[2].Waits--
	}
	return weights, nil
}

func (l *loading) Restart(context.Context) ([]peer.Started, error) {
	var started []peer.Started
	for _, took := range l.startedIn {
		started = append(started, peer.Started{Took: took, Opened: took / 2, Leases: l.found})
	}
	return started, nil
}

// find returns a workload by its name.
func find(t *testing.T, name string) Workload {
	t.Helper()
	chosen, err := Select(name)
	if err != nil || len(chosen) != 1 {
		t.Fatalf("workload %q: %v, %v", name, chosen, err)
	}
	return chosen[0]
}
