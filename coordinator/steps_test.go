package coordinator_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// The steps that many tests take.

// acquire takes a lease that has to be had. It is not taken for forgotten before
// the test ends.
func acquire(t testing.TB, n *locktest.Node, key string, opts ...coordinator.AcquireOption) *coordinator.Lease {
	t.Helper()
	lease, err := n.Coordinator().Acquire(patient(t), key, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { runtime.KeepAlive(lease) })
	return lease
}

// release gives a lease back, for certain.
func release(t testing.TB, lease *coordinator.Lease) {
	t.Helper()
	require.NoError(t, lease.Release(patient(t)))
}

// inLine is an acquire that may have to wait.
type inLine struct {
	t     testing.TB
	leave context.CancelFunc // ends its context
	done  chan struct{}
	lease *coordinator.Lease
	err   error
}

// ask begins an acquire. What it gets is not taken for forgotten before the test
// ends.
func ask(t testing.TB, n *locktest.Node, key string, opts ...coordinator.AcquireOption) *inLine {
	ctx, cancel := context.WithCancel(patient(t))
	l := &inLine{t: t, leave: cancel, done: make(chan struct{})}
	t.Cleanup(func() { runtime.KeepAlive(l) })
	c := n.Coordinator()
	go func() {
		defer close(l.done)
		l.lease, l.err = c.Acquire(ctx, key, opts...)
	}()
	return l
}

// granted waits for the lease.
func (l *inLine) granted() *coordinator.Lease {
	l.t.Helper()
	<-l.done
	require.NoError(l.t, l.err)
	return l.lease
}

// failed waits for the error.
func (l *inLine) failed() error {
	l.t.Helper()
	<-l.done
	require.Error(l.t, l.err)
	return l.err
}

// answered reports whether there is an answer.
func (l *inLine) answered() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// waits says that there is no answer yet.
func (l *inLine) waits() {
	l.t.Helper()
	if l.answered() {
		require.FailNow(l.t, "the acquire has been answered", "lease %v, error %v", l.lease, l.err)
	}
}

// timedOut waits in line for a key that is taken, for ever longer until it got in
// line before its time was over, and returns the error.
func timedOut(t testing.TB, n *locktest.Node, key string, opts ...coordinator.AcquireOption) error {
	t.Helper()
	for wait := locktest.ElectionTimeout; ; wait *= 2 {
		_, err := n.Coordinator().Acquire(patient(t), key, append(opts, coordinator.WithWait(wait))...)
		require.Error(t, err)
		if !errors.Is(err, coordinator.ErrUnavailable) || wait > patience {
			return err
		}
	}
}

// awaitLine waits until so many are in line for a key, as a node sees it.
func awaitLine(t testing.TB, c *locktest.Cluster, n *locktest.Node, key string, length int) {
	t.Helper()
	got := -1
	err := c.Await(patient(t), "the queue", func() bool {
		info, err := n.Coordinator().Inspect(patient(t), key)
		got = len(info.Waiters)
		return err == nil && got == length
	})
	require.NoError(t, err, "%d wait for %q, %d should", got, key, length)
}

// awaitNothingLeft waits until no node has a request open, and then looks
// whether the groups have none either.
func awaitNothingLeft(t testing.TB, c *locktest.Cluster) {
	t.Helper()
	ctx := patient(t)
	require.NoError(t, c.Await(ctx, "all requests to be over", func() bool {
		for _, n := range c.Nodes() {
			if n.Running() && n.Coordinator().Status().Requests > 0 {
				return false
			}
		}
		return true
	}))
	require.NoError(t, c.WaitEqualDumps(ctx))
	for _, n := range c.Nodes() {
		if !n.Running() {
			continue
		}
		for _, g := range n.Coordinator().Status().Groups {
			require.Zero(t, g.Leases, "leases of group %d on node %d", g.Group, n.Number())
			require.Zero(t, g.Waits, "waits of group %d on node %d", g.Group, n.Number())
			require.Zero(t, g.Keys, "keys of group %d on node %d", g.Group, n.Number())
		}
	}
}

// awaitEnd waits until a lease has ended.
func awaitEnd(t testing.TB, lease interface{ Done() <-chan struct{} }) {
	t.Helper()
	select {
	case <-lease.Done():
	case <-patient(t).Done():
		require.FailNow(t, "the lease has not ended")
	}
}

// requireOpen says that a lease has not ended.
func requireOpen(t testing.TB, lease interface {
	Done() <-chan struct{}
	Err() error
}) {
	t.Helper()
	require.NoError(t, lease.Err())
	select {
	case <-lease.Done():
		require.FailNow(t, "Done is closed")
	default:
	}
}

// outcomeOf returns the outcome that an error reports.
func outcomeOf(t testing.TB, err error) coordinator.Outcome {
	t.Helper()
	var e *coordinator.Error
	require.ErrorAs(t, err, &e)
	return e.Outcome
}

// batches returns how many batches a node has asked for.
func batches(n *locktest.Node) uint64 { return n.Coordinator().Status().Batches }

// parallel runs n functions at the same time and waits for all.
func parallel(n int, do func(i int)) {
	done := make(chan struct{})
	for i := range n {
		go func() {
			defer func() { done <- struct{}{} }()
			do(i)
		}()
	}
	for range n {
		<-done
	}
}

// newRandom returns a random source, and logs what it follows from.
func newRandom(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// handle is what a Lease and a LeaseSet have in common.
type handle interface {
	Context() context.Context
	Bind(context.Context) (context.Context, context.CancelFunc)
	Done() <-chan struct{}
	Endangered() <-chan struct{}
	Err() error
	Held() bool
	State() coordinator.State
	Remaining() time.Duration
	Ensure(context.Context, time.Duration) error
	Release(context.Context) error
}

// requireLostHandle asks a handle that is lost everything.
func requireLostHandle(t *testing.T, h handle) {
	t.Helper()
	require.False(t, h.Held())
	require.Equal(t, coordinator.Lost, h.State())
	require.Zero(t, h.Remaining())
	require.ErrorIs(t, h.Err(), coordinator.ErrLeaseLost)
	<-h.Done()
	<-h.Endangered()
	<-h.Context().Done()
	require.ErrorIs(t, context.Cause(h.Context()), coordinator.ErrLeaseLost)
	bound, unbind := h.Bind(patient(t))
	defer unbind()
	<-bound.Done()
	require.ErrorIs(t, context.Cause(bound), coordinator.ErrLeaseLost)
	require.ErrorIs(t, h.Ensure(patient(t), 1), coordinator.ErrLeaseLost)
	require.ErrorIs(t, h.Release(patient(t)), coordinator.ErrLeaseLost)
}
