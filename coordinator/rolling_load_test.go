package coordinator_test

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

// overTCP makes the rolling restart under load one of nodes that talk over
// TCP.
var overTCP = flag.Bool("tcp", false, "roll the nodes over TCP")

// electionMax is the longest that one election takes without a split vote: a
// replica waits less than 2*E before it stands (docs/time.md).
const electionMax = 2 * steadyElection

// gapMax is far above what was measured.
const gapMax = 10 * electionMax

// ward is a cluster of three whose nodes each hold a lease in every group, and
// acquire and release other keys all the time, as fast as pace lets them.
type ward struct {
	t       *testing.T
	c       *locktest.Cluster
	held    map[int][]*coordinator.Lease // by node
	tokens  map[string]token.Token
	working map[int]*pace // by node
	control *pace         // on a cluster of one, which has no elections
}

func newWard(t *testing.T, opts ...locktest.Option) *ward {
	w := &ward{
		t: t, c: newSteadyCluster(t, 3, opts...), held: make(map[int][]*coordinator.Lease),
		tokens: make(map[string]token.Token), working: make(map[int]*pace),
	}
	alone := newCluster(t, 1)
	w.control = startPace(t, alone.Node(1).Coordinator(), []string{"control"})
	for node := 1; node <= 3; node++ {
		w.join(node)
	}
	t.Cleanup(func() {
		w.control.stop()
		for _, p := range w.working {
			p.stop()
		}
	})
	return w
}

// join lets a node that is open take its leases and begin its work.
func (w *ward) join(node int) {
	w.t.Helper()
	n := w.c.Node(node)
	var keys []string
	for group := 1; group <= locktest.Groups; group++ {
		key := w.c.KeyIn(group, fmt.Sprint("held by node ", node))
		lease := acquire(w.t, n, key)
		require.Greater(w.t, lease.Token(), w.tokens[key])
		w.tokens[key] = lease.Token()
		w.held[node] = append(w.held[node], lease)
		keys = append(keys, w.c.KeyIn(group, fmt.Sprint("worked on by node ", node)))
	}
	w.working[node] = startPace(w.t, n.Coordinator(), keys)
}

// leave stops a node as a program does that is told to end: Shutdown while its
// holders come to an end, and Close if one of them does not.
func (w *ward) leave(node int, stubborn bool) {
	w.t.Helper()
	c := w.c.Node(node).Coordinator()
	limit := patience
	if stubborn {
		limit = locktest.ElectionTimeout / 4
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- c.Shutdown(ctx) }()
	w.working[node].end() // its calls are refused from now on
	leases := w.held[node]
	if stubborn {
		leases = leases[1:]
	}
	for _, lease := range leases {
		release(w.t, lease)
	}
	err := <-done
	if stubborn {
		require.ErrorIs(w.t, err, context.DeadlineExceeded)
		requireOpen(w.t, w.held[node][0])
	} else {
		require.NoError(w.t, err)
	}
	w.c.Node(node).Close()
	w.held[node] = nil
}

// untouched checks that the other nodes have lost nothing, and that the groups
// hear of them.
func (w *ward) untouched(node int) {
	w.t.Helper()
	advance(w.c, long/5, 1, 2, 3)
	for other, leases := range w.held {
		if other == node {
			continue
		}
		for _, lease := range leases {
			requireOpen(w.t, lease)
			require.NoError(w.t, lease.Ensure(patient(w.t), long*8/10))
			require.Equal(w.t, w.tokens[lease.Key()], lease.Token())
		}
	}
}

// begin starts the measuring of a restart of a node; the returned function
// ends it, and returns the longest gap of the others and that of the control.
func (w *ward) begin(node int) (end func() (gap, control time.Duration)) {
	w.control.reset()
	for other, p := range w.working {
		if other != node {
			p.reset()
		}
	}
	return func() (gap, control time.Duration) {
		for other, p := range w.working {
			if other != node {
				gap = max(gap, p.longestGap(w.t))
			}
		}
		return gap, w.control.longestGap(w.t)
	}
}

// terms returns the terms of all groups, as a node knows them: each election
// and each move of a leadership raises one.
func (w *ward) terms(node int) []uint64 {
	var terms []uint64
	for _, g := range w.c.Node(node).Coordinator().Status().Groups {
		terms = append(terms, g.Term)
	}
	return terms
}

// Three nodes that work are restarted one by one, ten times. Those that are not
// being restarted lose no lease, and no group has more than two elections or
// moves of its leadership because of one restart. That is counted. How long the
// others wait for a free key meanwhile is logged, beside the time of two
// elections and what the machine alone made a cluster of one wait; on a busy
// machine it says more of that than of the groups, and gapMax is only there so
// that a group which stands still does not pass.
func TestTenRollingRestartsUnderLoad(t *testing.T) {
	t.Parallel()
	var opts []locktest.Option
	if *overTCP {
		opts = append(opts, locktest.WithTCP())
	}
	w := newWard(t, opts...)
	const rolls = 10
	var longest, noise time.Duration
	elections := uint64(0)
	for roll := range rolls {
		for node := 1; node <= 3; node++ {
			other := node%3 + 1
			terms, end := w.terms(other), w.begin(node)
			w.leave(node, roll%2 == 1)
			w.c.Node(node).Restart()
			require.NoError(t, w.c.Node(node).Coordinator().WaitReady(patient(t)))
			gap, control := end()
			for i, term := range w.terms(other) {
				raised := term - terms[i]
				require.LessOrEqual(t, raised, uint64(2), "roll %d, node %d: elections of group %d", roll, node, i+1)
				elections += raised
			}
			t.Logf("roll %d, node %d: gap %v, control %v", roll, node, gap, control)
			longest, noise = max(longest, gap), max(noise, control)
			w.untouched(node)
			w.join(node)
		}
	}
	t.Logf("%d restarts: longest gap %v, of the control %v, two elections %v; terms raised %d times in %d groups", 3*rolls, longest, noise, 2*electionMax, elections, locktest.Groups)
	require.LessOrEqual(t, longest, gapMax)
	require.NotZero(t, elections, "no restarted node led a group")
	w.untouched(0)
	for node := 1; node <= 3; node++ {
		s := w.c.Node(node).Coordinator().Status()
		require.Equal(t, uint64(rolls+1), s.Incarnation)
		require.Zero(t, s.LostWindow+s.LostGroup+s.Expiries)
		w.working[node].stop()
		for _, lease := range w.held[node] {
			release(t, lease)
		}
	}
	require.Zero(t, w.c.Faults().ExpiriesProposed)
	awaitNothingLeft(t, w.c)
}
