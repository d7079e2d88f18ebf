package sim

import (
	"fmt"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// node is one process, with a replica of every group.
type node struct {
	w      *world
	id     statemachine.NodeID
	random stream
	watch  watch
	ills   ills

	incarnation statemachine.Incarnation
	life        int // tells what was planned for an earlier start
	running     bool
	leaving     bool
	paused      int           // strikes that stop all of it
	asleep      int           // strikes that suspend its machine
	slept       time.Duration // in all, up to the last waking
	sleepsSince time.Duration
	held        []func() // what came while it was paused
	cutIn       int      // nothing comes to it
	cutOut      int      // nothing comes from it

	replicas []*replica
	clients  []*client
	refs     hub.Ref
	seq      statemachine.Seq
}

func newNode(w *world, id statemachine.NodeID) *node {
	n := &node{w: w, id: id, random: newStream(w.seed, "node", id)}
	n.watch = watch{base: clock.Instant(n.random.between(time.Second, time.Hour)), rate: 1}
	n.ills = ills{n: n, random: newStream(w.seed, "ills", id), arrived: map[int]int{}}
	for _, g := range w.groups {
		n.replicas = append(n.replicas, &replica{n: n, g: g, random: newStream(w.seed, "replica", id, g.id)})
	}
	return n
}

func (n *node) replica(g *group) *replica { return n.replicas[g.id-1] }

// local is what the node's clock shows.
func (n *node) local() clock.Instant { return n.watch.at(n.w.now) }

// wall is what its wall clock shows.
func (n *node) wall() int64 { return int64(n.w.now) + n.watch.wall }

// still says that nothing of the process moves.
func (n *node) still() bool { return n.paused > 0 || n.asleep > 0 }

// fit says that the node can be heard, and hears, as a leader has to.
func (n *node) fit() bool { return n.running && !n.still() && n.cutIn == 0 && n.cutOut == 0 }

// cutName is the fault that keeps the node's messages back.
func (n *node) cutName() string {
	switch {
	case n.cutIn == 0:
		return "mute node"
	case n.cutOut == 0:
		return "deaf node"
	}
	return "cut node"
}

// identity is what its batches say of it.
func (n *node) identity() batcher.Identity {
	return batcher.Identity{Node: n.id, Directory: statemachine.DirectoryID{byte(n.id)}, Incarnation: n.incarnation}
}

// timer plans something for this start of the node. The process has to run
// for it: a paused one does it when it goes on, and timers stand still while
// the machine is suspended.
func (n *node) timer(d time.Duration, do func()) {
	life, slept := n.life, n.sleptBy()
	var due func()
	due = func() {
		switch late := n.sleptBy() - slept; {
		case life != n.life || !n.running:
		case late > 0:
			slept += late
			n.w.after(late, due)
		case n.paused > 0:
			n.held = append(n.held, do)
		default:
			do()
		}
	}
	n.w.after(d, due)
}

// arrives plans that something comes from another node. It does not come to a
// node that sleeps or is cut off; missed is called then.
func (n *node) arrives(d time.Duration, do, missed func()) {
	life := n.life
	n.w.after(d, func() {
		switch {
		case life != n.life || !n.running:
		case n.cutIn > 0:
			n.w.count[n.cutName()]++
			missed()
		case n.asleep > 0:
			missed()
		case n.paused > 0:
			n.held = append(n.held, do)
		default:
			do()
		}
	})
}

// at plans something for an instant of the node's clock.
func (n *node) at(instant clock.Instant, do func()) {
	n.timer(n.watch.lasts(instant.Sub(n.local())), func() {
		if n.local() < instant {
			n.at(instant, do) // the clock has become slower
			return
		}
		do()
	})
}

// sleptBy is how long the machine was suspended in all.
func (n *node) sleptBy() time.Duration {
	if n.asleep > 0 {
		return n.slept + n.w.now - n.sleepsSince
	}
	return n.slept
}

// start is a new start of the process, with what its disk has.
func (n *node) start() {
	n.incarnation++
	n.life++
	n.running, n.leaving = true, false
	n.held, n.clients, n.seq = nil, nil, 0
	for _, r := range n.replicas {
		r.open()
	}
	if !n.w.quiet {
		for _, number := range n.w.clientsOf(n) {
			c := newClient(n, number)
			n.clients = append(n.clients, c)
			c.think()
		}
	}
}

// stop ends the process; it starts again later.
func (n *node) stop(lasts time.Duration) {
	if !n.running {
		return
	}
	n.running, n.held = false, nil
	n.life++
	for _, c := range n.clients {
		c.close()
	}
	for _, r := range n.replicas {
		r.disk.crash()
	}
	life := n.life
	n.w.after(lasts, func() {
		if n.life == life && !n.running {
			n.start()
		}
	})
}

// resume does what had to wait, in the order in which it came.
func (n *node) resume() {
	for len(n.held) > 0 && !n.still() {
		do := n.held[0]
		n.held = n.held[1:]
		do()
	}
}

// reconnect has the node hear what it missed.
func (n *node) reconnect() {
	if !n.running || n.still() || n.cutIn > 0 {
		return
	}
	for _, r := range n.replicas {
		r.hears()
		r.catchUp()
	}
}

func (n *node) String() string {
	return fmt.Sprintf("node %d.%d running=%v leaving=%v paused=%d asleep=%d in=%d out=%d",
		n.id, n.incarnation, n.running, n.leaving, n.paused, n.asleep, n.cutIn, n.cutOut)
}
