package coordinator_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// The orders in which a node can be stopped, from one goroutine: what each
// call returns, and what is left.

// ending is a node that is stopped step by step while it has a lease, a
// request in line and a call under way. The fields say what must be so after
// the steps so far.
type ending struct {
	t      *testing.T
	c      *locktest.Cluster
	n      *locktest.Node
	node   *coordinator.Coordinator
	wait   shutdownKind
	lease  *coordinator.Lease
	line   *inLine
	parked chan error // of a Shutdown that waits for the holder; nil: none does

	held, refusing, stopped, told bool
}

// shutdownKind is how long the Shutdown of an order may wait.
type shutdownKind uint8

const (
	finished shutdownKind = iota // its context has ended before
	short                        // its context ends while it waits
	endless                      // its context outlasts the holder
)

// steps are what can be done, by name.
var steps = map[string]func(*ending){
	"Close":    (*ending).close,
	"Kill":     (*ending).kill,
	"Release":  (*ending).release,
	"Shutdown": (*ending).shutdown,
}

func (e *ending) close() {
	require.NoError(e.t, e.node.Close())
	e.told = e.told || !e.stopped
	e.lose()
}

func (e *ending) kill() {
	e.n.Kill() // fails the test on an error
	e.lose()
}

// lose says that the node has stopped, and took its lease along.
func (e *ending) lose() {
	e.refusing, e.stopped = true, true
	if e.held {
		e.held = false
		require.ErrorIs(e.t, e.lease.Err(), coordinator.ErrLeaseLost)
		require.ErrorIs(e.t, e.lease.Err(), coordinator.ErrClosed)
	}
	e.unpark()
}

func (e *ending) release() {
	err := e.lease.Release(patient(e.t))
	if !e.held {
		require.ErrorIs(e.t, err, coordinator.ErrLeaseLost)
		require.ErrorIs(e.t, err, coordinator.ErrClosed)
		require.Equal(e.t, coordinator.NotApplied, outcomeOf(e.t, err))
		return
	}
	require.NoError(e.t, err)
	require.ErrorIs(e.t, e.lease.Err(), coordinator.ErrReleased)
	e.held = false
	e.unpark()
}

// shutdown lets the node stop as soon as nothing is held. It waits no longer
// than it is patient.
func (e *ending) shutdown() {
	e.refusing = true
	switch {
	case !e.held:
		ctx, cancel := e.shutdownContext()
		defer cancel()
		require.NoError(e.t, e.node.Shutdown(ctx), "nothing is held, so there is nothing to wait for")
		e.told = e.told || !e.stopped
		e.stopped = true
	case e.wait == endless:
		ctx, cancel := e.shutdownContext()
		e.t.Cleanup(cancel)
		e.parked = make(chan error, 1)
		go func() { e.parked <- e.node.Shutdown(ctx) }()
		require.NoError(e.t, e.c.Await(patient(e.t), "new calls to be refused", func() bool {
			_, err := e.node.TryAcquire(ctx, "free")
			return err != nil
		}))
	default:
		ctx, cancel := e.shutdownContext()
		defer cancel()
		err := e.node.Shutdown(ctx)
		require.ErrorIs(e.t, err, ctx.Err())
		require.ErrorContains(e.t, err, "still held")
		require.Equal(e.t, coordinator.Unknown, outcomeOf(e.t, err))
		requireOpen(e.t, e.lease)
	}
}

func (e *ending) shutdownContext() (context.Context, context.CancelFunc) {
	switch e.wait {
	case finished:
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ctx, cancel
	case short:
		return context.WithTimeout(context.Background(), locktest.ElectionTimeout/4)
	}
	return context.WithTimeout(context.Background(), patience)
}

// unpark says that a Shutdown has nothing more to wait for.
func (e *ending) unpark() {
	if e.parked == nil {
		return
	}
	select {
	case err := <-e.parked:
		require.NoError(e.t, err)
	case <-patient(e.t).Done():
		require.FailNow(e.t, "Shutdown hangs")
	}
	e.parked = nil
	e.told = e.told || !e.stopped
	e.stopped = true
}

// check asks the node whether it is where the steps should have brought it.
func (e *ending) check() {
	if e.held {
		requireOpen(e.t, e.lease)
	} else {
		require.False(e.t, e.lease.Held())
		<-e.lease.Done()
	}
	if e.refusing {
		require.ErrorIs(e.t, e.line.failed(), coordinator.ErrClosed)
		requireAllClosed(e.t, everyCall(patient(e.t), e.node, "free"))
		return
	}
	e.line.waits()
	lease, err := e.node.Acquire(patient(e.t), "free")
	require.NoError(e.t, err)
	release(e.t, lease)
}

// run does the steps, and then looks at what other nodes and the next start of
// this one find. All TTLs outlast the test: what is gone did not expire.
func (e *ending) run(order []string) {
	lead(e.t, e.c, 2) // so that the end of node 1 makes no election
	mine, other := e.c.KeyIn(1, "mine"), e.c.KeyIn(2, "other")
	e.node = e.n.Coordinator()
	e.lease = acquire(e.t, e.n, mine)
	theirs := acquire(e.t, e.c.Node(2), other)
	e.line = ask(e.t, e.n, other)
	awaitLine(e.t, e.c, e.c.Node(2), other, 1)
	e.held = true
	heldAtTheEnd := true // as the others see it
	for _, step := range order {
		was := e.held
		steps[step](e)
		e.check()
		if was && !e.held {
			heldAtTheEnd = step == "Kill"
		}
	}
	require.True(e.t, e.stopped)

	if heldAtTheEnd {
		_, err := try(e.t, e.c.Node(3), mine)
		require.ErrorIs(e.t, err, coordinator.ErrBusy, "a node that was killed has told nobody")
	} else {
		next := acquire(e.t, e.c.Node(3), mine)
		require.Greater(e.t, next.Token(), e.lease.Token())
		release(e.t, next)
	}
	if e.told {
		awaitLine(e.t, e.c, e.c.Node(3), other, 0)
	}
	e.n.Restart()
	again := acquire(e.t, e.n, mine)
	require.Greater(e.t, again.Token(), e.lease.Token(), "the directory can be opened again")
	release(e.t, again)
	requireOpen(e.t, theirs)
	release(e.t, theirs)
}

// ordersOf returns all orders of the names.
func ordersOf(names []string) [][]string {
	if len(names) == 0 {
		return [][]string{nil}
	}
	var all [][]string
	for i, first := range names {
		rest := append(append([]string(nil), names[:i]...), names[i+1:]...)
		for _, order := range ordersOf(rest) {
			all = append(all, append([]string{first}, order...))
		}
	}
	return all
}

func TestEveryOrderOfCloseShutdownReleaseAndKill(t *testing.T) {
	t.Parallel()
	all := ordersOf([]string{"Close", "Kill", "Release", "Shutdown"})
	require.Len(t, all, 24)
	// Any other step than Shutdown ends the lease, so for how long a Shutdown
	// may wait matters where it is the first. The orders of one first step are
	// one cluster's. All clusters run at the same time: mostly they wait until
	// the nodes have reached one another again.
	type run struct {
		name  string
		wait  shutdownKind
		first string
	}
	runs := []run{
		{"CloseFirst", finished, "Close"},
		{"KillFirst", finished, "Kill"},
		{"ReleaseFirst", finished, "Release"},
		{"FirstAShutdownWhoseContextHasEnded", finished, "Shutdown"},
		{"FirstAShutdownThatGivesUp", short, "Shutdown"},
		{"FirstAShutdownThatWaits", endless, "Shutdown"},
	}
	parallel(len(runs), func(i int) {
		r := runs[i]
		t.Run(r.name, func(t *testing.T) {
			c := newSteadyCluster(t, 3)
			done := uint64(0)
			for _, order := range all {
				if order[0] != r.first {
					continue
				}
				done++
				t.Run(strings.Join(order, "Then"), func(t *testing.T) {
					e := &ending{t: t, c: c, n: c.Node(1), wait: r.wait}
					e.run(order)
				})
			}
			require.Equal(t, done+1, c.Node(1).Coordinator().Status().Incarnation, "it was started again after each")
			require.NoError(t, c.WaitReady(patient(t)))
			awaitNothingLeft(t, c)
			require.Zero(t, c.Faults().ExpiriesProposed, "nothing had to expire")
		})
	})
}
