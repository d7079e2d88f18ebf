package torture

import (
	"errors"
	"fmt"
	"net/rpc"
	"os"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// processFaults are those of the processes of the nodes.
var processFaults = []faultKind{
	{name: "kill a node", begin: (*nemesis).killOne, restarts: true},
	{name: "kill the leader", begin: (*nemesis).killLeader, alone: true, restarts: true},
	{name: "kill all", begin: (*nemesis).killAll, restarts: true},
	{name: "kill a node while it starts", begin: (*nemesis).killStarting, restarts: true},
	{name: "kill a node while it stops", begin: (*nemesis).killStopping, restarts: true},
	{name: "pause shorter than T", begin: (*nemesis).pauseShort},
	{name: "pause longer than T", begin: (*nemesis).pauseLong, alone: true},
	{name: "pause all", begin: (*nemesis).pauseAll},
	{name: "wipe a directory", begin: (*nemesis).wipe, alone: true, restarts: true},
	{name: "restart in order", begin: (*nemesis).roll, alone: true, restarts: true},
}

func (n *nemesis) killOne() (fault, error) {
	victim := n.free()
	return fault{heal: func() error { return n.revive(victim) }}, n.kill(victim)
}

// killStarting kills a node, and then its process again and again at some point
// of the way to an open node.
func (n *nemesis) killStarting() (fault, error) {
	victim := n.free()
	if err := n.kill(victim); err != nil {
		return fault{}, err
	}
	for range 1 + n.random.IntN(4) {
		p, err := n.spawn(victim)
		if err != nil {
			return fault{}, err
		}
		p.orders.Go("Node.Open", n.opening(victim), &p.incarnation, make(chan *rpc.Call, 1))
		n.hold(time.Duration(n.random.Int64N(int64(400 * time.Millisecond))))
		if err := p.kill(); err != nil {
			return fault{}, err
		}
	}
	return fault{heal: func() error { return n.revive(victim) }}, nil
}

// killStopping kills a node at some point of its shutdown.
func (n *nemesis) killStopping() (fault, error) {
	victim := n.free()
	p := n.running[victim]
	if err := n.lookAt(victim); err != nil {
		return fault{}, err
	}
	p.orders.Go("Node.Shutdown", n.Limit, &Nothing{}, make(chan *rpc.Call, 1))
	n.hold(time.Duration(n.random.Int64N(int64(300 * time.Millisecond))))
	return fault{heal: func() error { return n.revive(victim) }}, n.killUnseen(victim)
}

// killLeader kills the node that leads most groups. Afterwards each of them
// has had an election.
func (n *nemesis) killLeader() (fault, error) {
	victim, leads, err := n.leader()
	if err != nil {
		return fault{}, err
	}
	if leads == 0 {
		return fault{}, errors.New("nobody leads anything, although nothing was broken")
	}
	terms := n.tally.terms()
	return fault{
		heal: func() error { return n.revive(victim) },
		verify: func() error {
			if now := n.tally.terms(); now < terms+uint64(leads) {
				return fmt.Errorf("node %d led %d groups, and there were %d elections", victim, leads, now-terms)
			}
			return nil
		},
	}, n.kill(victim)
}

// killAll kills all that run.
func (n *nemesis) killAll() (fault, error) {
	victims := n.allFree()
	for _, node := range victims {
		if err := n.kill(node); err != nil {
			return fault{}, err
		}
	}
	return fault{heal: func() error {
		for _, i := range n.random.Perm(len(victims)) {
			if err := n.revive(victims[i]); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// stop makes a node stand still.
func (n *nemesis) stop(node int) error {
	n.stopped[node] = true
	return n.running[node].stop()
}

// resume lets it go on.
func (n *nemesis) resume(node int) error {
	delete(n.stopped, node)
	return n.running[node].signal(syscall.SIGCONT)
}

func (n *nemesis) pauseShort() (fault, error) {
	victim := n.free()
	if err := n.stop(victim); err != nil {
		return fault{}, err
	}
	n.hold(n.between(0.1, 0.5))
	return fault{heal: func() error { return n.resume(victim) }}, nil
}

// pauseAll pauses all that run, as a suspended machine does, and lets them go on
// one after the other.
func (n *nemesis) pauseAll() (fault, error) {
	victims := n.allFree()
	for _, node := range victims {
		if err := n.stop(node); err != nil {
			return fault{}, err
		}
	}
	n.hold(n.between(0.1, 1.5))
	return fault{heal: func() error {
		for _, i := range n.random.Perm(len(victims)) {
			if err := n.resume(victims[i]); err != nil {
				return err
			}
			n.hold(n.between(0, 0.1))
		}
		return nil
	}}, nil
}

// poisedWorkers is how many workers of a node hold a key while it is paused.
const poisedWorkers = 2

// pauseLong pauses a node with holders until somebody has taken over from one
// of them and written. When the node goes on they write too, without a look at
// their leases.
func (n *nemesis) pauseLong() (fault, error) {
	victim := n.free()
	p := n.running[victim]
	var poised []Poised
	if err := p.ask("Poise", min(poisedWorkers, n.Workers), &poised); err != nil {
		return fault{}, err
	}
	if err := n.stop(victim); err != nil {
		return fault{}, err
	}
	limit := time.NewTimer(n.Limit)
	defer limit.Stop()
	for {
		overtaken, moved := n.register.overtaken(n.generation, poised)
		if overtaken {
			break
		}
		select {
		case <-moved:
		case <-limit.C:
			return fault{}, fmt.Errorf("nobody has taken over from node %d within %v of its pause: %v", p.number, n.Limit, poised)
		}
	}
	n.hold(n.between(0, 0.5))
	_, stale := n.register.counts()
	return fault{
		heal: func() error {
			return errors.Join(n.resume(victim), p.ask("GoOn", Nothing{}, &Nothing{}))
		},
		verify: func() error {
			if _, now := n.register.counts(); now == stale {
				return errors.New("no write of a paused holder was refused")
			}
			return nil
		},
	}, nil
}

// wipe takes a node's directory away. The node must be refused, and told why,
// until it has it back.
func (n *nemesis) wipe() (fault, error) {
	victim := n.free()
	if err := n.kill(victim); err != nil {
		return fault{}, err
	}
	data := n.data(victim)
	aside := data + "-aside"
	if err := os.Rename(data, aside); err != nil {
		return fault{}, err
	}
	p, err := n.start(victim)
	if err != nil {
		return fault{}, err
	}
	var r Readiness
	if err := p.ask("WaitReady", n.Limit, &r); err != nil {
		return fault{}, err
	}
	if r.Refused != coordinator.RefusedDirectory {
		return fault{}, fmt.Errorf("node %d with an empty directory should be refused for that, but: %+v", victim, r)
	}
	return fault{heal: func() error {
		if err := errors.Join(n.killUnseen(victim), os.RemoveAll(data), os.Rename(aside, data)); err != nil {
			return err
		}
		return n.revive(victim)
	}}, nil
}

// roll restarts the nodes one after the other in good order, as an update
// does.
func (n *nemesis) roll() (fault, error) {
	for _, i := range n.random.Perm(n.Nodes) {
		node := i + 1
		if err := n.shutdown(node); err != nil {
			return fault{}, err
		}
		if err := n.revive(node); err != nil {
			return fault{}, err
		}
		if err := n.employ(); err != nil {
			return fault{}, err
		}
	}
	return fault{}, nil
}
