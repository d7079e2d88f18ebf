package sim

import (
	"container/heap"
	"fmt"
	"hash"
	"hash/fnv"
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// world is some groups on some nodes, in true time.
type world struct {
	seed    int64
	setting setting
	plan    plan
	skipped []int // numbers that were left out of the plan

	now   time.Duration // true time
	queue agenda
	order int

	nodes   []*node
	groups  []*group
	owners  *owners
	lasting []func()      // ends the strikes that last
	quiet   bool          // nothing goes wrong any longer
	healed  time.Duration // since when

	count    counts
	commands int       // applied by the machines of all replicas
	logged   int       // and by one replica of each group
	history  hash.Hash // all that the groups and the callers were told, and when
	failure  *failure  // the first
	print    func(string)
	// clockError is how many percent clocks may be off: 5 is promised. A test
	// that has to see something go wrong takes more.
	clockError int
}

// newWorld returns the world of a seed, less some parts of its plan.
func newWorld(seed int64, s setting, without []int) *world {
	w := &world{
		seed: seed, setting: s, plan: drawPlan(seed, s).without(without), skipped: without,
		owners: newOwners(), count: counts{}, history: fnv.New128a(), clockError: 5,
	}
	w.owners.w = w
	for i := range s.groups {
		w.groups = append(w.groups, newGroup(w, statemachine.GroupID(i+1)))
	}
	for i := range s.nodes {
		w.nodes = append(w.nodes, newNode(w, statemachine.NodeID(i+1)))
	}
	return w
}

// run is the whole life of a world: faults, and then peace. It returns the
// first thing that was wrong.
func (w *world) run() (found *failure) {
	defer func() {
		if cause := recover(); cause != nil {
			w.fail("panic", "%v", cause)
			found = w.failure
		}
	}()
	w.begin()
	for w.now < w.setting.troubled && w.failure == nil {
		w.step()
	}
	w.heal()
	w.peace()
	return w.failure
}

// begin starts everything, and plans the strikes.
func (w *world) begin() {
	for _, n := range w.nodes {
		n.start()
	}
	for _, g := range w.groups {
		g.elect()
		g.supervise()
	}
	for _, p := range w.plan {
		if p.strike == nil {
			continue
		}
		w.after(p.strike.at, func() {
			if !w.quiet {
				w.trace("strike %v", p)
				p.strike.fault.strike(w, p.strike)
			}
		})
	}
}

// fail notes what is wrong. The world stops with the next step.
func (w *world) fail(kind, format string, args ...any) {
	if w.failure == nil {
		w.failure = &failure{seed: w.seed, without: w.skipped, kind: kind, at: w.now, text: fmt.Sprintf(format, args...)}
		w.trace("FAILED: %v", w.failure)
	}
}

func (w *world) trace(format string, args ...any) {
	if w.print != nil {
		w.print(fmt.Sprintf("%12v  %s", w.now, fmt.Sprintf(format, args...)))
	}
}

// tell adds to the history.
func (w *world) tell(format string, args ...any) {
	fmt.Fprintf(w.history, "%d ", w.now)
	fmt.Fprintf(w.history, format, args...)
}

// after plans something.
func (w *world) after(d time.Duration, do func()) {
	w.order++
	heap.Push(&w.queue, happening{w.now + max(0, d), w.order, do})
}

// step lets the next thing happen.
func (w *world) step() {
	next := heap.Pop(&w.queue).(happening)
	w.now = next.at
	next.do()
	w.owners.check()
}

// until goes on until something holds, and says whether it came true in time.
// It looks each hundredth of a second.
func (w *world) until(limit time.Duration, holds func() bool) bool {
	end, look := w.now+limit, w.now
	for {
		if w.failure != nil {
			return false
		}
		if w.now >= look {
			if holds() {
				return true
			}
			look = w.now + 10*time.Millisecond
		}
		if len(w.queue) == 0 || w.queue[0].at > end {
			return holds()
		}
		w.step()
	}
}

// heal ends all that goes wrong.
func (w *world) heal() {
	w.quiet, w.healed = true, w.now
	w.trace("healed")
	for _, end := range w.lasting {
		end()
	}
	w.lasting = nil
	for _, n := range w.nodes {
		if !n.running {
			n.start()
		}
	}
	for _, g := range w.groups {
		g.elect()
	}
}

// clientsOf returns the numbers of a node's clients.
func (w *world) clientsOf(n *node) []int {
	var numbers []int
	for _, p := range w.plan {
		if p.strike == nil && w.nodes[p.node] == n {
			numbers = append(numbers, p.number)
		}
	}
	return numbers
}
