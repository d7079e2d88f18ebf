package coordinator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// Do and DoAll whose context ends, in each phase of them.

// doing is a Do or DoAll of node 1 under way. Its function reports that it runs,
// and ends when it is told what to return.
type doing struct {
	t       *testing.T
	cancel  context.CancelFunc
	running chan handle
	inner   context.Context // of the function, once it runs
	answer  chan error      // what the function is to return
	done    chan struct{}   // closed when the call has returned
	err     error
	begun   int // calls of the function, and those that have returned
	ended   int
}

// fn is the function.
func (d *doing) fn(ctx context.Context, h handle) error {
	d.begun++
	defer func() { d.ended++ }()
	d.inner = ctx
	d.running <- h
	return <-d.answer
}

// runs waits until the function runs, and returns its lease.
func (d *doing) runs() handle {
	d.t.Helper()
	select {
	case h := <-d.running:
		return h
	case <-d.done:
		require.FailNow(d.t, "it has returned", "%v", d.err)
		return nil
	}
}

// told waits until a channel of the lease or of the function's context is closed.
func (d *doing) told(end <-chan struct{}) {
	d.t.Helper()
	select {
	case <-end:
	case <-patient(d.t).Done():
		require.FailNow(d.t, "it is not told")
	}
}

// returned waits for the error of the call. Its function was run so often, and
// has returned each time.
func (d *doing) returned(runs int) error {
	d.t.Helper()
	select {
	case <-d.done:
	case <-patient(d.t).Done():
		require.FailNow(d.t, "it does not return")
	}
	require.Equal(d.t, runs, d.begun)
	require.Equal(d.t, runs, d.ended)
	return d.err
}

// doPhase is one phase. It begins the call, ends its context in that phase, and
// checks what it returns. Afterwards the cluster is whole again and has nothing
// left of it.
type doPhase struct {
	name string
	run  func(t *testing.T, c *locktest.Cluster, begin func(context.Context) *doing, key string)
}

var doPhases = []doPhase{
	{"BeforeItBegins", func(t *testing.T, c *locktest.Cluster, begin func(context.Context) *doing, _ string) {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		before := batches(c.Node(1))
		err := begin(ended).returned(0)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
		require.Equal(t, before, batches(c.Node(1)))
	}},
	{"WithoutAnAnswer", func(t *testing.T, c *locktest.Cluster, begin func(context.Context) *doing, _ string) {
		c.Isolate(1)
		d := begin(patient(t))
		awaitRequests(t, c, 1)
		d.cancel()
		err := d.returned(0)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, coordinator.ErrUnavailable)
		awaitCut(t, c, 1)
	}},
	{"InLine", func(t *testing.T, c *locktest.Cluster, begin func(context.Context) *doing, key string) {
		holder := acquire(t, c.Node(2), key)
		d := begin(patient(t))
		awaitLine(t, c, c.Node(2), key, 1)
		d.cancel()
		require.ErrorIs(t, d.returned(0), context.Canceled)
		requireOpen(t, holder)
		awaitLine(t, c, c.Node(2), key, 0)
		release(t, holder)
	}},
	{"WhileItHolds", func(t *testing.T, c *locktest.Cluster, begin func(context.Context) *doing, key string) {
		d := begin(patient(t))
		h := d.runs()
		next := ask(t, c.Node(2), key)
		awaitLine(t, c, c.Node(2), key, 1)
		d.cancel()
		d.told(d.inner.Done())
		// A release that did not wait for the function would be in the log by then.
		release(t, acquire(t, c.Node(1), c.KeyIn(c.Group(key), "beside")))
		require.NoError(t, h.Err(), "the function still works under it")
		require.Equal(t, coordinator.NodeID(1), inspect(t, c.Node(2), key).Holder.Node)
		next.waits()
		d.answer <- d.inner.Err()
		require.ErrorIs(t, d.returned(1), context.Canceled)
		require.ErrorIs(t, h.Err(), coordinator.ErrReleased)
		release(t, next.granted())
	}},
	{"WhileRenewingFails", func(t *testing.T, c *locktest.Cluster, begin func(context.Context) *doing, _ string) {
		d := begin(patient(t))
		h := d.runs()
		c.Isolate(1)
		advance(c, long/4, 1) // a renewal is due
		d.told(h.Endangered())
		require.NoError(t, d.inner.Err(), "it is not lost")
		d.cancel()
		d.told(d.inner.Done())
		d.answer <- nil
		require.NoError(t, d.returned(1), "the release goes on by itself")
		require.Equal(t, coordinator.Releasing, h.State())
		awaitCut(t, c, 1)
	}},
	{"WhileItReleases", func(t *testing.T, c *locktest.Cluster, begin func(context.Context) *doing, _ string) {
		d := begin(patient(t))
		h := d.runs()
		c.Isolate(1)
		d.answer <- nil
		awaitEnd(t, h)
		require.Equal(t, coordinator.Releasing, h.State())
		select {
		case <-d.done:
			require.FailNow(t, "it does not wait to be confirmed", "%v", d.err)
		default:
		}
		d.cancel()
		require.NoError(t, d.returned(1))
		awaitCut(t, c, 1)
	}},
	{"AfterTheLoss", func(t *testing.T, c *locktest.Cluster, begin func(context.Context) *doing, _ string) {
		d := begin(patient(t))
		h := d.runs()
		c.Isolate(1)
		advance(c, long, 1)
		d.told(d.inner.Done())
		require.ErrorIs(t, context.Cause(d.inner), coordinator.ErrLeaseLost)
		d.cancel()
		d.answer <- d.inner.Err()
		err := d.returned(1)
		require.ErrorIs(t, err, coordinator.ErrLeaseLost, "it says so")
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, h.Err(), coordinator.ErrLeaseLost)
	}},
}

// The stopped hook of the case is the return of the function: it is called once
// or not at all, and Do never returns while it runs.
func TestS122DoReturnsInWhateverPhaseItsContextEnds(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	keys := []string{c.KeyIn(1, "first"), c.KeyIn(2, "second")}
	node := c.Node(1).Coordinator()
	for name, call := range map[string]func(context.Context, *doing) error{
		"Do": func(ctx context.Context, d *doing) error {
			return node.Do(ctx, keys[1], func(ctx context.Context, l *coordinator.Lease) error { return d.fn(ctx, l) })
		},
		"DoAll": func(ctx context.Context, d *doing) error {
			return node.DoAll(ctx, keys, func(ctx context.Context, s *coordinator.LeaseSet) error { return d.fn(ctx, s) })
		},
	} {
		for _, phase := range doPhases {
			whole := t.Run(name+"/"+phase.name, func(t *testing.T) {
				for _, key := range keys { // so that a cut node leads nothing that others ask for
					require.NoError(t, c.MoveLeader(patient(t), key, 2))
				}
				begin := func(ctx context.Context) *doing {
					d := &doing{t: t, running: make(chan handle, 1), answer: make(chan error, 1), done: make(chan struct{})}
					ctx, d.cancel = context.WithCancel(ctx)
					t.Cleanup(d.cancel)
					go func() {
						defer close(d.done)
						d.err = call(ctx, d)
					}()
					return d
				}
				phase.run(t, c, begin, keys[1])
				c.Heal()
				require.NoError(t, c.WaitReady(patient(t)))
				awaitNothingLeft(t, c)
			})
			if !whole {
				return // the cluster is not as the next phase expects it
			}
		}
	}
	require.Zero(t, c.Faults().ExpiriesProposed, "nothing had to wait for a TTL")
}

// awaitRequests waits until node 1 has so many requests open.
func awaitRequests(t *testing.T, c *locktest.Cluster, n int) {
	t.Helper()
	require.NoError(t, c.Await(patient(t), "a request to be under way", func() bool {
		return c.Node(1).Coordinator().Status().Requests == n
	}))
}
