package hub

import (
	"container/heap"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// The times of the model: an election timeout of 1 s.
const (
	ttlShort   = 4 * time.Second
	ttlLong    = 10 * time.Second
	limitShort = 4 * time.Second
	limitLong  = 7 * time.Second
	faultsFor  = 60 * time.Second
	healsIn    = 90 * time.Second
)

var genesis = statemachine.Genesis{Group: 1, Members: []statemachine.NodeID{1, 2, 3}}

// world is one group on three nodes in true time. The group's log is one
// list: what Raft does to get there is left out, and so is the past of a
// batch that never came there. A seed draws everything else: proposals lost,
// doubled, late and out of order; hints that are wrong; leaders that change,
// are missing, or do not know that they no longer lead; nodes that are cut
// off, paused or killed, and start again from an older image; replicas that
// stall, lag, and are brought up by a snapshot; clocks 5 % off either way.
type world struct {
	t       *testing.T
	seed    int64
	random  *rand.Rand
	verbose bool

	now   time.Duration // true time
	queue happenings
	order int

	log    []statemachine.Batch // index 1 is log[0]
	nodes  []*node
	leader *node // nil: none
	term   int
	quiet  bool // no faults any longer
	oracle *oracle
	count  counts
}

// happening is something that is due at a time.
type happening struct {
	at    time.Duration
	order int
	do    func()
}

type happenings []happening

func (h happenings) Len() int      { return len(h) }
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h happenings) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].order < h[j].order
}
func (h *happenings) Push(x any) { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func newWorld(t *testing.T, seed int64) *world {
	w := &world{t: t, seed: seed, random: rand.New(rand.NewSource(seed)), count: counts{}}
	w.oracle = newOracle(w)
	for i := range 3 {
		w.nodes = append(w.nodes, newNode(w, statemachine.NodeID(i+1)))
	}
	for _, n := range w.nodes {
		n.start()
	}
	w.elect()
	return w
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	require.Fail(w.t, fmt.Sprintf(format, args...),
		"at %v; replay with: go test ./coordinator/internal/hub -run %s -seed %d -v", w.now, w.t.Name(), w.seed)
}

func (w *world) trace(format string, args ...any) {
	if w.verbose {
		w.t.Logf("%12v  %s", w.now, fmt.Sprintf(format, args...))
	}
}

// after plans something.
func (w *world) after(d time.Duration, do func()) {
	w.order++
	heap.Push(&w.queue, happening{w.now + max(0, d), w.order, do})
}

// step lets the next thing happen, and asks the oracle.
func (w *world) step() {
	next := heap.Pop(&w.queue).(happening)
	w.now = next.at
	next.do()
	w.oracle.check()
}

// until runs until something holds, and fails when it does not in time.
func (w *world) until(limit time.Duration, holds func() bool) {
	w.t.Helper()
	for end := w.now + limit; !holds(); w.step() {
		if len(w.queue) == 0 || w.queue[0].at > end {
			w.fail("did not come true in %v", limit)
		}
	}
}

func (w *world) chance(percent int) bool { return w.random.Intn(100) < percent }

func (w *world) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.random.Int63n(int64(most-least)+1))
}

// run is one seed: faults, and then peace.
func (w *world) run() {
	for _, n := range w.nodes {
		for range 1 + w.random.Intn(3) {
			n.newCaller()
		}
	}
	w.after(0, w.fault)
	for w.now < faultsFor {
		w.step()
	}
	w.calm()
	w.quiesce()
}

// fault draws the next fault, now and then.
func (w *world) fault() {
	if w.quiet {
		return
	}
	n := w.nodes[w.random.Intn(len(w.nodes))]
	// Mostly short against a TTL, sometimes far longer.
	lasts := w.between(0, 2*time.Second)
	if w.chance(25) {
		lasts = w.between(0, 2*ttlLong)
	}
	switch w.random.Intn(13) {
	case 0, 1:
		w.elect()
	case 2:
		w.depose()
		w.after(lasts, w.elect)
	case 3, 4:
		n.pause(lasts)
	case 5, 6:
		w.count["cuts"]++
		n.cut = true
		w.after(lasts, func() { n.cut = false; n.recover() })
	case 7, 8:
		w.count["stalls"]++
		n.stalled = true
		w.after(lasts, func() { n.stalled = false; n.recover() })
	case 9:
		n.kill(lasts)
	case 10:
		n.leave(lasts)
	case 11:
		n.install()
	case 12:
		n.reopen()
	}
	w.after(w.between(50*time.Millisecond, 3*time.Second), w.fault)
}

// elect makes a node the leader that can be heard.
func (w *world) elect() {
	w.depose()
	var fit []*node
	for _, n := range w.nodes {
		if n.up() && !n.cut && !n.paused {
			fit = append(fit, n)
		}
	}
	if len(fit) < 2 { // no quorum
		w.after(100*time.Millisecond, func() {
			if w.leader == nil {
				w.elect()
			}
		})
		return
	}
	w.count["elections"]++
	w.crown(fit[w.random.Intn(len(fit))])
}

// crown makes a node the leader.
func (w *world) crown(leader *node) {
	w.term++
	w.leader = leader
	w.trace("node %d leads", leader.id)
	for _, n := range w.nodes {
		n.led(w.term, leader)
	}
}

func (w *world) depose() { w.leader = nil }

// calm ends all faults.
func (w *world) calm() {
	w.quiet = true
	w.trace("calm")
	for _, n := range w.nodes {
		n.cut, n.stalled = false, false
		n.resume()
		if !n.up() {
			n.start()
		}
		n.catchUp()
	}
	w.elect()
}

// propose carries data to the log: n's own batches, and its proposals as a
// leader, which come there also when it no longer leads.
func (w *world) propose(n *node, data []byte) {
	copies, least, most := 1, time.Millisecond, 20*time.Millisecond
	if !w.quiet {
		switch {
		case w.chance(15):
			copies = 0
			w.count["lost"]++
		case w.chance(10):
			copies = 2
			w.count["doubled"]++
		}
		if w.chance(10) {
			most = ttlLong
			w.count["late"]++
		}
	}
	for range copies {
		delay := w.between(least, most)
		w.after(delay, func() {
			// A cut between sender and leader, or no leader: it is lost.
			if w.leader == nil || n.cut && n.up() || w.leader.cut || w.leader.paused {
				return
			}
			w.commit(data)
		})
	}
}

// commit appends an entry to the log. All replicas apply it in their own time.
func (w *world) commit(data []byte) {
	batch, err := statemachine.DecodeBatch(data)
	require.NoError(w.t, err)
	w.log = append(w.log, batch)
	w.count["entries"]++
	w.oracle.committed(batch)
	for _, n := range w.nodes {
		n.catchUp()
	}
}

// quiesce ends what the callers do, and says what must hold then.
func (w *world) quiesce() {
	for _, n := range w.nodes {
		n.retire()
	}
	settled := func() bool {
		for _, n := range w.nodes {
			if n.busy() || int(n.machine.Meta().Applied) != len(w.log) {
				return false
			}
		}
		stats := w.oracle.machine.Stats()
		return stats.Leases == 0 && stats.Waits == 0
	}
	end := w.now + healsIn
	for !settled() {
		if len(w.queue) == 0 || w.queue[0].at > end {
			for _, n := range w.nodes {
				w.t.Log(n)
			}
			w.fail("not at rest %v after the last fault: %+v", healsIn, w.oracle.machine.Stats())
		}
		w.step()
	}
	require.Zero(w.t, w.oracle.machine.Stats())
	for _, n := range w.nodes {
		require.Zero(w.t, n.hub.keeper.Pace(), "node %d watches something still", n.id)
		_, wakes := n.hub.Next(n.local())
		require.False(w.t, wakes, "node %d wakes for nothing", n.id)
	}
}
