package coordinator_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// A node is stopped from many goroutines at the same moment, in every way
// there is, while leases are released and acquires are under way.

// stops is one such moment.
type stops struct {
	t      *testing.T
	c      *locktest.Cluster
	n      *locktest.Node
	node   *coordinator.Coordinator
	leases []*coordinator.Lease
	got    chan *coordinator.Lease // by acquires that came through
	// released counts the leases that were released before they were lost,
	// late those that were not.
	released, late atomic.Int32
}

func (s *stops) expect(ok bool, what string, err error) {
	if !ok {
		s.t.Errorf("%s: %v", what, err)
	}
}

func (s *stops) close() {
	err := s.node.Close()
	s.expect(err == nil, "Close", err)
}

func (s *stops) kill() { s.n.Kill() }

func (s *stops) shutdown(ctx context.Context) {
	err := s.node.Shutdown(ctx)
	s.expect(err == nil || ctx.Err() != nil && errors.Is(err, ctx.Err()), "Shutdown", err)
}

func (s *stops) release(lease *coordinator.Lease) {
	err := lease.Release(context.Background())
	switch {
	case err == nil:
		s.released.Add(1)
		s.expect(errors.Is(lease.Err(), coordinator.ErrReleased), "a released lease", lease.Err())
	case errors.Is(err, coordinator.ErrLeaseLost):
		s.late.Add(1)
		s.expect(errors.Is(err, coordinator.ErrClosed), "Release of a lost lease", err)
		s.expect(errors.Is(lease.Err(), coordinator.ErrLeaseLost), "a lost lease", lease.Err())
	default: // killed before the answer
		s.expect(errors.Is(err, coordinator.ErrClosed), "Release", err)
		s.expect(errors.Is(lease.Err(), coordinator.ErrReleased), "a lease whose release has no answer", lease.Err())
	}
}

func (s *stops) acquire(key string) {
	lease, err := s.node.Acquire(context.Background(), key)
	if err == nil {
		s.got <- lease
		return
	}
	s.expect(lease == nil && errors.Is(err, coordinator.ErrClosed), "Acquire", err)
}

// all returns every call of the moment, in any order. The Shutdowns that wait
// end because somebody closes or kills the node.
func (s *stops) all(random *rand.Rand, kill bool) []func() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	soon, cancelSoon := context.WithTimeout(context.Background(), locktest.ElectionTimeout/8)
	s.t.Cleanup(cancelSoon)
	calls := []func(){
		s.close, s.close,
		func() { s.shutdown(ended) },
		func() { s.shutdown(soon) },
		func() { s.shutdown(context.Background()) }, func() { s.shutdown(context.Background()) },
	}
	if kill {
		calls = append(calls, s.kill)
	}
	for _, lease := range s.leases {
		calls = append(calls, func() { s.release(lease) })
	}
	for _, key := range []string{"free", "taken", "free too", "taken"} {
		calls = append(calls, func() { s.acquire(key) })
	}
	random.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	return calls
}

func TestCloseShutdownReleaseKillAndAcquireAtTheSameTime(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	random := newRandom(t)
	theirs := acquire(t, c.Node(2), "taken")
	var released, late int32
	const rounds, most = 6, 60
	for round := 0; round < rounds || late == 0; round++ {
		require.Less(t, round, most, "no stop was faster than any release")
		s := &stops{t: t, c: c, n: c.Node(1), node: c.Node(1).Coordinator(), got: make(chan *coordinator.Lease, 4)}
		for group := 1; group <= locktest.Groups; group++ {
			for _, prefix := range []string{"a", "b"} {
				s.leases = append(s.leases, acquire(t, s.n, c.KeyIn(group, prefix)))
			}
		}
		calls := s.all(random, round%2 == 1)
		begin, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			parallel(len(calls), func(i int) {
				<-begin
				calls[i]()
			})
		}()
		close(begin)
		select {
		case <-done:
		case <-patient(t).Done():
			require.FailNow(t, "a call hangs", "round %d", round)
		}
		close(s.got)
		for lease := range s.got {
			require.ErrorIs(t, lease.Err(), coordinator.ErrClosed, "what was handed out in the last moment ended too")
		}
		requireAllClosed(t, everyCall(patient(t), s.node, "free"))
		require.NoError(t, s.node.Status().Err)
		if round%2 == 0 { // nobody was killed: the others were told
			for _, lease := range s.leases {
				next := acquire(t, c.Node(3), lease.Key())
				require.Greater(t, next.Token(), lease.Token())
				release(t, next)
			}
			awaitLine(t, c, c.Node(3), "taken", 0)
		}
		s.n.Restart()
		released, late = released+s.released.Load(), late+s.late.Load()
	}
	t.Logf("%d releases were first, %d came after the loss", released, late)
	requireOpen(t, theirs)
	release(t, theirs)
	require.NoError(t, c.WaitReady(patient(t)))
	awaitNothingLeft(t, c)
	require.Zero(t, c.Faults().ExpiriesProposed, "nothing had to expire")
}
