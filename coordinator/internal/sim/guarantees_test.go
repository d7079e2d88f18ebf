package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// calm is a world of three nodes and one group in which nothing goes wrong but
// what the test does. Its clocks are off by as much as is promised.
func calm(seed int64) *world {
	w := newWorld(seed, setting{
		nodes: 3, groups: 1, keys: 3, troubled: time.Hour,
		trip: span{time.Millisecond, 20 * time.Millisecond}, think: span{time.Hour, time.Hour}, dumpEvery: 1,
	}, nil)
	w.begin()
	for i, n := range w.nodes {
		n.watch.adjust(0, []float64{0.95, 1.05, 1}[(int(seed)+i)%3])
	}
	w.heal()
	return w
}

// asks has a client of the node wait in line for a key, which it then keeps.
func (n *node) asks(key int, ttl time.Duration) *call {
	r := n.replicas[0]
	c := newClient(n, 1)
	n.clients = append(n.clients, c)
	c.ask([]want{{r, hub.Ask{
		Claims: []statemachine.Claim{{Key: r.g.keys[key], Mode: statemachine.Exclusive}}, Wait: true, TTL: ttl,
	}}}, time.Hour)
	return c.calls[0]
}

func (c *call) is(p phase) func() bool { return func() bool { return c.phase == p } }

// twoInLine has node 1 own key 0, and node 2 wait for it; node 2 leads.
func twoInLine(t *testing.T, w *world) (owner, waiter *call) {
	w.groups[0].crown(w.nodes[1])
	owner = w.nodes[0].asks(0, ttlShort)
	require.True(t, w.until(time.Second, owner.is(holds)), "%v", w)
	waiter = w.nodes[1].asks(0, ttlShort)
	require.True(t, w.until(time.Second, waiter.is(queued)), "%v", w)
	return owner, waiter
}

// TestStalledReplicaDoesNotKeepItsNode: the replica of node 1 stops applying,
// and everything else of it goes on. It loses its lease, and the group lets it
// go within 2*T: a node that renewed blindly would keep its key for ever.
func TestStalledReplicaDoesNotKeepItsNode(t *testing.T) {
	for seed := range int64(20) {
		w := calm(seed + 1)
		owner, waiter := twoInLine(t, w)
		w.nodes[0].replicas[0].stalled++
		// It goes on asking for things, as a busy node does.
		for i := range 100 {
			w.after(time.Duration(i)*100*time.Millisecond, func() { w.nodes[0].asks(1, ttlLong) })
		}
		// It may renew for T after it last saw a batch applied, and then the
		// group waits for T; for clocks that are 5 % off.
		require.True(t, w.until(ttlShort*21/10+ttlShort/2, waiter.is(holds)), "seed %d: %v", seed+1, w)
		require.Equal(t, lost, owner.phase, "seed %d", seed+1)
		require.Nil(t, w.failure)
	}
}

// TestTheWindowEndsBeforeTheExpiry (G3): the owner's clock is 5 % slow, the
// leader's 5 % fast, and the owner can't be heard from some moment on. Its
// window is over before the group ends its lease. With clocks that are off by
// 8 % it is not, so the moment is met.
func TestTheWindowEndsBeforeTheExpiry(t *testing.T) {
	run := func(seed int64, off float64) *world {
		w := calm(seed)
		w.nodes[0].watch.adjust(w.now, 1-off)
		w.nodes[1].watch.adjust(w.now, 1+off)
		w.groups[0].crown(w.nodes[1])
		owner := w.nodes[0].asks(0, ttlLong)
		require.True(t, w.until(time.Second, owner.is(holds)), "%v", w)
		w.until(w.groups[0].random.between(ttlLong, 2*ttlLong), never)
		w.nodes[0].cutOut++
		w.until(2*ttlLong, never)
		require.NotZero(t, w.count["expired"], "seed %d", seed)
		return w
	}
	for seed := range int64(20) {
		require.Nil(t, run(seed+1, 0.05).failure)
		over := run(seed+1, 0.08).failure
		require.NotNil(t, over, "seed %d", seed+1)
		require.Equal(t, "G3", over.kind, "%v", over)
	}
}

// TestElectionsCostNoLease (G5): a group that is without a leader again and
// again, each time for less than T/2, costs nobody its lease.
func TestElectionsCostNoLease(t *testing.T) {
	for seed := range int64(20) {
		w := calm(seed + 1)
		owner, waiter := twoInLine(t, w)
		g := w.groups[0]
		before := w.count["elections"]
		for range 20 {
			g.leader = nil
			g.vacant++
			w.until(g.random.between(0, ttlShort/2-50*time.Millisecond), never)
			g.vacant--
			g.elect()
			// So long that one round trip gets through.
			w.until(g.random.between(ttlShort/4, ttlShort), never)
			require.True(t, owner.trusts(), "seed %d: %v", seed+1, w)
		}
		require.GreaterOrEqual(t, w.count["elections"], before+20)
		require.Equal(t, queued, waiter.phase)
		require.Zero(t, w.count["losses"]+w.count["unavailable"]+w.count["expired"])
		require.Nil(t, w.failure)
	}
}

// TestTheDeadAreLetGo (G6): the owner's process ends for good, and elections
// follow each other faster than T. The next in line has the key within 2*T and
// one election, for clocks that are 5 % off.
func TestTheDeadAreLetGo(t *testing.T) {
	for seed := range int64(20) {
		w := calm(seed + 1)
		owner, waiter := twoInLine(t, w)
		w.nodes[0].stop(time.Hour)
		g := w.groups[0]
		var again func()
		again = func() {
			g.elect()
			w.after(g.random.between(ttlShort/8, ttlShort/4), again)
		}
		again()
		require.True(t, w.until(2*ttlShort*21/20+2*election, waiter.is(holds)), "seed %d: %v", seed+1, w)
		require.Greater(t, w.count["elections"], 5)
		require.NotZero(t, w.count["expired"])
		require.Equal(t, over, owner.phase)
		require.Nil(t, w.failure)
	}
}

func never() bool { return false }

// TestWhatIsWrongIsSeen: checks that can't be seen to fail in a world whose
// rules are right are shown to fail on what the log could say.
func TestWhatIsWrongIsSeen(t *testing.T) {
	id := func(seq statemachine.Seq) statemachine.LeaseID {
		return statemachine.LeaseID{Node: 1, Incarnation: 1, Seq: seq}
	}
	asked := func(o *oracle, seq statemachine.Seq) {
		o.read(statemachine.Batch{Node: 1, Incarnation: 1, Commands: []statemachine.Command{
			statemachine.Acquire{Seq: seq, Claims: []statemachine.Claim{{Key: "k"}}},
		}})
	}
	for _, c := range []struct {
		name, kind string
		events     []statemachine.Event
	}{
		{"TwoOwners", "G1", []statemachine.Event{
			statemachine.Granted{Lease: id(1), Token: 1}, statemachine.Granted{Lease: id(2), Token: 2},
		}},
		{"ATokenThatDoesNotRise", "G2", []statemachine.Event{
			statemachine.Granted{Lease: id(1), Token: 5}, statemachine.Ended{Lease: id(1)},
			statemachine.Granted{Lease: id(2), Token: 5},
		}},
		{"APassedWaiter", "G7", []statemachine.Event{
			statemachine.Queued{Lease: id(1)}, statemachine.Queued{Lease: id(2)},
			statemachine.Granted{Lease: id(2), Token: 1},
		}},
		{"ATryThatPassesAWaiter", "G7", []statemachine.Event{
			statemachine.Queued{Lease: id(1)}, statemachine.Granted{Lease: id(2), Token: 1},
		}},
		{"ABatchTwice", "G9", []statemachine.Event{
			statemachine.Applied{Node: 1, Incarnation: 1, Number: 3}, statemachine.Applied{Node: 1, Incarnation: 1, Number: 3},
		}},
		{"ABatchOfAnEarlierIncarnation", "G9", []statemachine.Event{
			statemachine.Applied{Node: 1, Incarnation: 2, Number: 1}, statemachine.Applied{Node: 1, Incarnation: 1, Number: 9},
		}},
		{"AGrantAfterTheEnd", "G9", []statemachine.Event{
			statemachine.Granted{Lease: id(1), Token: 1}, statemachine.Ended{Lease: id(1)},
			statemachine.Granted{Lease: id(1), Token: 2},
		}},
		{"APlaceOfAnOwner", "G9", []statemachine.Event{
			statemachine.Granted{Lease: id(1), Token: 1}, statemachine.Queued{Lease: id(1)},
		}},
		{"AnEndOfWhatNeverWas", "G9", []statemachine.Event{statemachine.Ended{Lease: id(7)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(1, setting{nodes: 1, groups: 1, keys: 1, dumpEvery: 1}, nil)
			o := w.groups[0].oracle
			asked(o, 1)
			asked(o, 2)
			for i, e := range c.events {
				require.Nil(t, w.failure, "at event %d", i)
				o.event(e)
			}
			require.NotNil(t, w.failure)
			require.Equal(t, c.kind, w.failure.kind)
		})
	}
}
