package sim

import (
	"fmt"
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// group is one Raft group as it looks from outside: a log that only grows,
// and a leader or none. What Raft does to get there is left out, and so is
// what never came to the log.
type group struct {
	w       *world
	id      statemachine.GroupID
	genesis statemachine.Genesis
	keys    []string
	random  stream

	log    []statemachine.Batch // index 1 is log[0]
	leader *node                // nil: none
	term   int
	// vacant is how many strikes keep the group from having a leader.
	vacant int
	// unfit is since when the leader can't be heard; zero while it can.
	unfit  time.Duration
	oracle *oracle
}

func newGroup(w *world, id statemachine.GroupID) *group {
	g := &group{
		w: w, id: id, genesis: statemachine.Genesis{Group: id, Members: w.setting.members()},
		random: newStream(w.seed, "group", id),
	}
	for i := range w.setting.keys {
		g.keys = append(g.keys, fmt.Sprintf("g%d/k%04d", id, i))
	}
	g.oracle = newOracle(g)
	return g
}

// end is the index of the last entry.
func (g *group) end() statemachine.Index { return statemachine.Index(len(g.log)) }

// elect makes a node the leader that can be heard; without a majority of such
// nodes there is none.
func (g *group) elect() {
	g.leader = nil
	var fit []*node
	for _, n := range g.w.nodes {
		if n.fit() {
			fit = append(fit, n)
		}
	}
	if len(fit) <= len(g.w.nodes)/2 || g.vacant > 0 {
		return // supervise looks again
	}
	g.w.count["elections"]++
	g.crown(fit[g.random.IntN(len(fit))])
}

// crown makes a node the leader.
func (g *group) crown(leader *node) {
	g.term++
	g.leader, g.unfit = leader, 0
	g.w.trace("group %d: node %d leads", g.id, leader.id)
	for _, n := range g.w.nodes {
		n.replica(g).hears()
	}
}

// supervise has the group elect another leader when it has none, or one that was
// not heard for an election timeout.
func (g *group) supervise() {
	switch {
	case g.leader == nil:
		g.elect()
	case g.leader.fit():
		g.unfit = 0
	case g.unfit == 0:
		g.unfit = g.w.now
	case g.w.now-g.unfit > election:
		g.elect()
	}
	g.w.after(g.random.between(100*time.Millisecond, 500*time.Millisecond), g.supervise)
}

// propose carries data of a node to the log: its own batches, and its
// proposals as a leader, which come there also when it no longer leads.
// refused is called if the engine knows at once that nothing comes of it.
func (g *group) propose(n *node, data []byte, refused func()) {
	trips := n.ills.trips(g)
	for _, trip := range trips {
		g.w.after(trip.takes, func() {
			switch {
			case n.cutOut > 0 && n.running:
				g.w.count[n.cutName()]++
			case g.leader == nil || !g.leader.fit():
				refused()
			default:
				trip.arrives()
				g.commit(data)
			}
		})
	}
}

// commit appends an entry to the log. All replicas apply it in their own time.
func (g *group) commit(data []byte) {
	batch, err := statemachine.DecodeBatch(data)
	if err != nil {
		g.w.fail("encoding", "%v", err)
		return
	}
	g.log = append(g.log, batch)
	g.w.tell("group %d: batch %d of %d.%d with %d commands\n", g.id, batch.Number, batch.Node, batch.Incarnation, len(batch.Commands))
	g.oracle.committed(batch)
	for _, n := range g.w.nodes {
		n.replica(g).catchUp()
	}
}
