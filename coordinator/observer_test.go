package coordinator_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// watcher keeps what an observer is told, and tells the observers of the library.
type watcher struct {
	sights *sights

	mu     sync.Mutex
	events []coordinator.Event
	news   chan struct{} // closed at the next event
}

func (w *watcher) Observe(e coordinator.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sights.Observe(e)
	w.events = append(w.events, e)
	if w.news != nil {
		close(w.news)
		w.news = nil
	}
}

// all returns the events that satisfy like, and a channel that is closed at the
// next event of any kind.
func (w *watcher) all(like func(coordinator.Event) bool) (found []coordinator.Event, next <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if like(e) {
			found = append(found, e)
		}
	}
	if w.news == nil {
		w.news = make(chan struct{})
	}
	return found, w.news
}

// await waits for an event.
func await[E coordinator.Event](t testing.TB, w *watcher, like func(E) bool) E {
	t.Helper()
	ctx := patient(t)
	for {
		found, next := w.all(func(e coordinator.Event) bool {
			one, ok := e.(E)
			return ok && like(one)
		})
		if len(found) > 0 {
			return found[0].(E)
		}
		select {
		case <-next:
		case <-ctx.Done():
			var kind E
			require.FailNow(t, "was not told", "%T, of %v", kind, w.events)
		}
	}
}

// awaitState waits until a request for a key has come to a state.
func awaitState(t testing.TB, w *watcher, key string, to coordinator.State) *coordinator.Transition {
	t.Helper()
	return await(t, w, func(e *coordinator.Transition) bool { return e.Keys[0] == key && e.To == to })
}

// states returns the states that a request has come to.
func (w *watcher) states(request uint64) (states []coordinator.State) {
	transitions, _ := w.all(func(e coordinator.Event) bool {
		t, ok := e.(*coordinator.Transition)
		return ok && t.Request == request
	})
	for _, e := range transitions {
		states = append(states, e.(*coordinator.Transition).To)
	}
	return states
}

// newWatched returns a steady cluster and what its first node tells.
func newWatched(t *testing.T, nodes int, opts ...locktest.Option) (*locktest.Cluster, *watcher) {
	t.Helper()
	w := &watcher{sights: newSights()}
	watch := locktest.WithConfig(func(node int, cfg *coordinator.Config) {
		if node == 1 {
			cfg.Observers = append(cfg.Observers, w)
		}
	})
	return newSteadyCluster(t, nodes, append(opts, watch)...), w
}

type contextKey struct{}

func TestObserverIsToldOfALease(t *testing.T) {
	t.Parallel()
	c, w := newWatched(t, 1)
	ctx := context.WithValue(patient(t), contextKey{}, "value")
	before := time.Now()
	lease, err := c.Node(1).Coordinator().Acquire(ctx, "key", coordinator.WithRequestID("id"), coordinator.WithTTL(longer/2))
	require.NoError(t, err)
	letPass(t, c, time.Minute, 1)
	token := lease.Token()
	require.NoError(t, lease.Ensure(ctx, long)) // keeps the lease until here
	release(t, lease)

	active := awaitState(t, w, "key", coordinator.Active)
	require.Equal(t, coordinator.Asked, active.From)
	require.Equal(t, coordinator.WaitAcquired, active.Wait)
	require.NoError(t, active.Err)
	subject := active.Subject
	require.Equal(t, "value", subject.Context.Value(contextKey{}))
	subject.Context = nil
	require.Equal(t, coordinator.Subject{
		Request: 1, Keys: []string{"key"}, RequestID: "id", TTL: longer / 2, Group: c.Group("key"), Token: token,
	}, subject)
	require.WithinRange(t, active.At, before, time.Now())

	releasing := awaitState(t, w, "key", coordinator.Releasing)
	require.Equal(t, coordinator.Active, releasing.From)
	require.GreaterOrEqual(t, releasing.Took, time.Minute)
	require.Greater(t, releasing.Remaining, long)
	require.Equal(t, token, releasing.Token)
	w.requireShown(t, releasing)
	released := awaitState(t, w, "key", coordinator.Released)
	require.Equal(t, coordinator.Releasing, released.From)
	require.Less(t, released.Took, time.Minute, "of the confirmation alone")
	require.Equal(t, []coordinator.State{coordinator.Active, coordinator.Releasing, coordinator.Released}, w.states(active.Request))

	committed := await(t, w, func(e *coordinator.Committed) bool { return e.Group == c.Group("key") })
	require.Positive(t, committed.Bytes)
	require.Positive(t, committed.Attempts)
	require.Positive(t, committed.Applying)
	require.Less(t, committed.Applying, time.Minute, "counted from the beginning of this apply")
	await(t, w, func(e *coordinator.LeaderChanged) bool { return e.Leader == 1 && e.Term > 0 })
}

func TestObserverIsToldHowAWaitEnds(t *testing.T) {
	t.Parallel()
	limited := locktest.WithConfig(func(_ int, cfg *coordinator.Config) { cfg.Limits.Queue = 1 })
	c, w := newWatched(t, 3, limited)
	node := c.Node(1)
	held := acquire(t, c.Node(2), "key", coordinator.WithTTL(longer))
	failed := func(end coordinator.WaitEnd, from coordinator.State, err error) {
		t.Helper()
		require.Error(t, err)
		e := await(t, w, func(e *coordinator.Transition) bool { return e.To == coordinator.Failed && e.Wait == end })
		require.Equal(t, from, e.From)
		require.ErrorIs(t, err, e.Err)
		require.Equal(t, outcomeOf(t, err), e.Outcome)
		require.Zero(t, e.Token)
		w.requireShown(t, e)
	}

	_, err := try(t, node, "key")
	failed(coordinator.WaitBusy, coordinator.Asked, err)

	failed(coordinator.WaitTimeout, coordinator.Queued, timedOut(t, node, "key"))

	waiting := ask(t, node, "key", coordinator.WithTTL(longer))
	awaitLine(t, c, node, "key", 1)
	queued := await(t, w, func(e *coordinator.Transition) bool { return e.To == coordinator.Queued && e.TTL == longer })
	require.Equal(t, coordinator.Asked, queued.From)
	_, err = node.Coordinator().Acquire(patient(t), "key")
	failed(coordinator.WaitQueueFull, coordinator.Asked, err)
	waiting.leave()
	failed(coordinator.WaitCancelled, coordinator.Queued, waiting.failed())
	awaitLine(t, c, node, "key", 0)

	turn := ask(t, node, "key", coordinator.WithTTL(longer/2))
	awaitLine(t, c, node, "key", 1)
	release(t, held)
	lease := turn.granted()
	active := await(t, w, func(e *coordinator.Transition) bool { return e.To == coordinator.Active && e.TTL == longer/2 })
	require.Equal(t, coordinator.Queued, active.From)
	require.Equal(t, lease.Token(), active.Token)
	w.requireShown(t, active)
	require.Equal(t, []coordinator.State{coordinator.Queued, coordinator.Active}, w.states(active.Request))

	c.Isolate(1)
	_, err = node.Coordinator().TryAcquire(patient(t), "other")
	failed(coordinator.WaitUnavailable, coordinator.Asked, err)
	c.Heal()

	behind := ask(t, node, "key")
	awaitLine(t, c, node, "key", 1)
	node.Close()
	failed(coordinator.WaitClosed, coordinator.Queued, behind.failed())
}

func TestObserverIsToldOfALoss(t *testing.T) {
	t.Parallel()
	for _, loss := range []struct {
		reason coordinator.LossReason
		nodes  int
		opts   []coordinator.AcquireOption
		lose   func(*testing.T, *locktest.Cluster)
	}{
		{coordinator.LossWindow, 1, nil, func(_ *testing.T, c *locktest.Cluster) { advance(c, long*95/100, 1) }},
		{coordinator.LossLimit, 1, []coordinator.AcquireOption{coordinator.WithMaxHold(long / 2)}, func(_ *testing.T, c *locktest.Cluster) {
			advance(c, long/2, 1)
		}},
		{coordinator.LossExpired, 3, nil, func(t *testing.T, c *locktest.Cluster) {
			c.Node(1).Clock().Freeze() // its own clock will never tell it
			c.Isolate(1)
			next := ask(t, c.Node(2), "key", coordinator.WithTTL(longer))
			letPass(t, c, 2*long, 2, 3)
			next.granted()
			c.Heal()
		}},
		{coordinator.LossUnknown, 3, nil, func(t *testing.T, c *locktest.Cluster) {
			c.Node(1).Clock().Freeze()
			c.Isolate(1)
			next := ask(t, c.Node(2), "key", coordinator.WithTTL(longer))
			letPass(t, c, 2*long, 2, 3)
			next.granted()
			churn := c.KeyIn(c.Group("key"), "churn")
			for range 2 * few { // the log is cut, and the expiry is not in the snapshot
				release(t, acquire(t, c.Node(2), churn))
			}
			c.Heal()
		}},
		{coordinator.LossClosed, 1, nil, func(_ *testing.T, c *locktest.Cluster) { c.Node(1).Close() }},
	} {
		t.Run(loss.reason.String(), func(t *testing.T) {
			t.Parallel()
			c, w := newWatched(t, loss.nodes, locktest.WithSnapshotEntries(few))
			lease := acquire(t, c.Node(1), "key", loss.opts...)
			loss.lose(t, c)
			awaitEnd(t, lease)

			e := awaitState(t, w, "key", coordinator.Lost)
			require.Equal(t, coordinator.Active, e.From)
			require.Equal(t, loss.reason, e.Loss)
			require.Equal(t, lease.Err(), e.Err)
			require.Equal(t, lease.Token(), e.Token)
			w.requireShown(t, e)
			require.Equal(t, []coordinator.State{coordinator.Active, coordinator.Lost}, w.states(e.Request))
			if loss.reason == coordinator.LossExpired {
				require.Equal(t, 1, await(t, w, func(e *coordinator.Expired) bool { return true }).Leases)
			}
			if loss.reason == coordinator.LossClosed {
				return // nothing is told any more
			}

			for range 2 {
				require.ErrorIs(t, lease.Release(patient(t)), coordinator.ErrLeaseLost)
			}
			release(t, acquire(t, c.Node(1), "another")) // told of behind what the releases tell of
			awaitState(t, w, "another", coordinator.Releasing)
			overruns, _ := w.all(func(e coordinator.Event) bool { _, ok := e.(*coordinator.Overrun); return ok })
			require.Len(t, overruns, 1)
			overrun := overruns[0].(*coordinator.Overrun)
			require.Equal(t, e.Subject, overrun.Subject)
			require.Equal(t, loss.reason, overrun.Loss)
		})
	}
}

func TestObserverThatDoesNotReturnHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	stuck := newStuckObserver()
	c, w := newWatched(t, 1, locktest.WithConfig(func(_ int, cfg *coordinator.Config) {
		cfg.Observers = append(cfg.Observers, stuck)
	}))
	const workers, pairs = 64, 2 + coordinator.ObserverBacklog/3/64 // three transitions each
	parallel(workers, func(i int) {
		for range pairs {
			release(t, acquire(t, c.Node(1), fmt.Sprintf("key %d", i)))
		}
	})
	close(stuck.free)
	c.Node(1).Close()
	require.Positive(t, stuck.dropped)
	require.GreaterOrEqual(t, stuck.told, uint64(coordinator.ObserverBacklog))
	told, dropped := uint64(0), uint64(0)
	for _, e := range w.events {
		if d, ok := e.(*coordinator.Dropped); ok {
			dropped += d.Events
		} else {
			told++
		}
	}
	require.Equal(t, told+dropped, stuck.told+stuck.dropped, "each event is told of or counted")
}

func TestCloseLeavesAnObserverThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	stuck := newStuckObserver()
	defer close(stuck.free)
	c, err := coordinator.Open(patient(t), coordinator.Config{Dir: t.TempDir(), Observers: []coordinator.Observer{stuck}})
	require.NoError(t, err)
	require.NoError(t, c.WaitReady(patient(t))) // a leader: an event
	require.NoError(t, c.Close())
	require.Zero(t, stuck.told)
}

// stuckObserver does not return until it is freed. What it counts may be looked at
// when its node is closed.
type stuckObserver struct {
	free          chan struct{}
	told, dropped uint64
}

func newStuckObserver() *stuckObserver { return &stuckObserver{free: make(chan struct{})} }

func (o *stuckObserver) Observe(e coordinator.Event) {
	<-o.free
	if d, ok := e.(*coordinator.Dropped); ok {
		o.dropped += d.Events
		return
	}
	o.told++
}

// carrier has the value of a context travel as its trace.
type carrier struct{}

func (carrier) Observe(coordinator.Event) {}

func (carrier) Trace(ctx context.Context) string {
	trace, _ := ctx.Value(contextKey{}).(string)
	return trace
}

func TestTheTraceOfAHolderIsShownToThoseThatWaitForIt(t *testing.T) {
	t.Parallel()
	c, w := newWatched(t, 3, locktest.WithConfig(func(_ int, cfg *coordinator.Config) {
		cfg.Observers = append(cfg.Observers, carrier{}, carrier{})
	}))
	traced := context.WithValue(patient(t), contextKey{}, "trace of 2")
	a, b, d := c.KeyIn(1, "a"), c.KeyIn(1, "b"), c.KeyIn(1, "d")
	held, err := c.Node(2).Coordinator().AcquireAll(traced, []string{a, b}, coordinator.WithMetadata("metadata"))
	require.NoError(t, err)
	lacks := acquire(t, c.Node(2), "c")

	behind := func(keys ...string) []coordinator.Holder {
		ctx, leave := context.WithCancel(patient(t))
		defer leave()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = c.Node(1).Coordinator().AcquireAll(ctx, keys)
		}()
		e := awaitState(t, w, keys[0], coordinator.Queued)
		leave()
		<-done
		return e.Behind
	}
	holders := behind(a, b, d)
	require.Len(t, holders, 2, "nobody holds d")
	for i, h := range holders {
		require.Equal(t, held.Keys()[i], h.Key)
		require.Equal(t, "trace of 2", h.Trace)
		require.Equal(t, "metadata", h.Metadata)
		tok, _ := held.Token(h.Key)
		require.Equal(t, tok, h.Token)
	}
	without := behind("c")
	require.Len(t, without, 1)
	require.Empty(t, without[0].Trace)
	require.Equal(t, lacks.Token(), without[0].Token)

	var busy *coordinator.BusyError
	_, err = c.Node(3).Coordinator().TryAcquire(patient(t), b)
	require.ErrorAs(t, err, &busy)
	require.Equal(t, "trace of 2", busy.Holders[0].Trace)
	require.Equal(t, "metadata", busy.Holders[0].Metadata)
	require.Equal(t, "trace of 2", inspect(t, c.Node(3), a).Holder.Trace)
}
