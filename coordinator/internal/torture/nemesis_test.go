package torture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// nemesis breaks a fleet and heals it again. One goroutine uses it.
type nemesis struct {
	*fleet
	ctx        context.Context // ends when no more faults are wanted
	random     *rand.Rand
	generation int
	workless   []int        // nodes that were started and have no workers yet
	stopped    map[int]bool // nodes that stand still
	hasty      bool         // faults don't last long
}

// fault is one that has begun.
type fault struct {
	kind   kind
	heal   func() error // nil: it is over
	verify func() error // after all is healed and works again; nil: nothing to see
	felt   func() bool  // whether it had an effect, seen then; nil: it had
}

// kind names a sort of fault.
type kind string

// faultKind is how a sort of fault is begun.
type faultKind struct {
	name  kind
	begin func(*nemesis) (fault, error)
	// Alone says that its beginning waits for something that happens only while
	// nothing else is broken.
	alone bool
	// Restarts says that processes end, and with them what they use.
	restarts bool
}

// free draws a node that runs.
func (n *nemesis) free() int {
	all := n.allFree()
	return all[n.random.IntN(len(all))]
}

func (n *nemesis) allFree() []int {
	return slices.DeleteFunc(n.members(), func(node int) bool {
		return n.running[node] == nil || n.stopped[node] || slices.Contains(n.workless, node)
	})
}

// between draws a duration, in parts of the TTL.
func (n *nemesis) between(low, high float64) time.Duration {
	return time.Duration((low + n.random.Float64()*(high-low)) * float64(n.TTL))
}

// hold lets a fault last.
func (n *nemesis) hold(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.ctx.Done():
	}
}

// outage draws how long a series of faults lasts once all of them have begun.
func (n *nemesis) outage() time.Duration {
	switch {
	case n.hasty:
		return n.between(0.1, 0.4)
	case n.random.IntN(10) == 0:
		return n.between(0.7, 4)
	}
	return n.between(0.2, 0.7)
}

// revive starts a node again. It gets workers when all is healed.
func (n *nemesis) revive(node int) error {
	if _, err := n.start(node); err != nil {
		return err
	}
	n.workless = append(n.workless, node)
	return nil
}

// employ gives workers to nodes that have none.
func (n *nemesis) employ() error {
	for _, node := range n.workless {
		if err := n.ready(node); err != nil {
			return err
		}
		order := WorkOrder{Generation: n.generation, Workers: n.Workers, Seed: n.random.Uint64()}
		if err := n.running[node].ask("Work", order, &Nothing{}); err != nil {
			return err
		}
	}
	n.workless = nil
	return nil
}

// series begins faults one after the other, lets them last, heals them in any
// order, and waits until every worker owns a key of every group again.
func (n *nemesis) series(kinds ...faultKind) error {
	var begun []fault
	for _, k := range kinds {
		if len(n.allFree()) == 0 {
			break // nobody is left who would notice anything
		}
		n.tally.event("begin %s", k.name)
		f, err := k.begin(n)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		f.kind = k.name
		begun = append(begun, f)
	}
	n.hold(n.outage())
	healed := time.Now()
	for _, i := range n.random.Perm(len(begun)) {
		if begun[i].heal == nil {
			continue
		}
		n.tally.event("heal %s", begun[i].kind)
		healed = time.Now()
		if err := begun[i].heal(); err != nil {
			return fmt.Errorf("heal %s: %w", begun[i].kind, err)
		}
	}
	if err := n.progress(healed, kinds); err != nil {
		return fmt.Errorf("after %v: %w", names(kinds), err)
	}
	for _, f := range begun {
		if f.verify != nil {
			if err := f.verify(); err != nil {
				return fmt.Errorf("%s: %w", f.kind, err)
			}
		}
		n.tally.fault(f.kind, f.felt == nil || f.felt())
	}
	return nil
}

func names(kinds []faultKind) []kind {
	var all []kind
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return all
}

// progress waits until every worker of every node owns a key of every group.
func (n *nemesis) progress(healed time.Time, kinds []faultKind) error {
	if err := n.employ(); err != nil {
		return err
	}
	type outcome struct {
		slowest Turnabout
		err     error
	}
	done := make(chan outcome, n.Nodes)
	for _, node := range n.members() {
		p := n.running[node]
		go func() {
			var o outcome
			o.err = p.ask("Progress", Nothing{}, &o.slowest)
			done <- o
		}()
	}
	var slowest Turnabout
	var failed error
	for range n.members() {
		o := <-done
		if o.err != nil && failed == nil {
			failed = o.err
		}
		if o.slowest.Took > slowest.Took {
			slowest = o.slowest
		}
	}
	if err := n.wrong(); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	n.tally.healed(time.Since(healed), slowest, names(kinds))
	for _, node := range n.members() {
		if err := n.running[node].ask("GoOn", Nothing{}, &Nothing{}); err != nil {
			return err
		}
	}
	return n.look()
}

// begin starts all nodes, and their workers on the first generation.
func (n *nemesis) begin() error {
	if err := n.next(); err != nil {
		return err
	}
	for _, node := range n.members() {
		if err := n.revive(node); err != nil {
			return err
		}
	}
	return n.progress(time.Now(), nil)
}

// next opens the register of the next generation.
func (n *nemesis) next() error {
	n.generation++
	return n.register.begin(n.generation)
}

// turn makes all workers go on with the next generation, and returns the one
// that is over.
func (n *nemesis) turn() (over int, err error) {
	over = n.generation
	if err := n.next(); err != nil {
		return 0, err
	}
	for _, node := range n.members() {
		if err := n.running[node].ask("Turn", n.generation, &Nothing{}); err != nil {
			return 0, err
		}
	}
	return over, nil
}
