package torture

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// processFaults are those of which only one may be at a time.
var processFaults = []faultKind{
	{name: "kill a node", begin: (*nemesis).killOne},
	{name: "kill the leader", begin: (*nemesis).killLeader, alone: true},
	{name: "kill all", begin: (*nemesis).killAll},
	{name: "pause shorter than T", begin: (*nemesis).pauseShort},
	{name: "pause longer than T", begin: (*nemesis).pauseLong, alone: true},
	{name: "wipe a directory", begin: (*nemesis).wipe, alone: true},
	{name: "restart in order", begin: (*nemesis).roll, alone: true},
}

func (n *nemesis) killOne() (fault, error) {
	victim := n.free()
	return fault{heal: func() error { return n.revive(victim) }}, n.kill(victim)
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

func (n *nemesis) killAll() (fault, error) {
	for _, node := range n.members() {
		if err := n.kill(node); err != nil {
			return fault{}, err
		}
	}
	return fault{heal: func() error {
		for _, i := range n.random.Perm(n.Nodes) {
			if err := n.revive(i + 1); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

func (n *nemesis) pauseShort() (fault, error) {
	p := n.running[n.free()]
	if err := p.stop(); err != nil {
		return fault{}, err
	}
	n.hold(n.between(0.1, 0.5))
	return fault{heal: func() error { return p.signal(syscall.SIGCONT) }}, nil
}

// poisedWorkers is how many workers of a node hold a key while it is paused.
const poisedWorkers = 2

// pauseLong pauses a node with holders until somebody has taken over from one
// of them and written. When the node goes on they write too, without a look at
// their leases.
func (n *nemesis) pauseLong() (fault, error) {
	p := n.running[n.free()]
	var poised []Poised
	if err := p.ask("Poise", min(poisedWorkers, n.Workers), &poised); err != nil {
		return fault{}, err
	}
	if err := p.stop(); err != nil {
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
			return errors.Join(p.signal(syscall.SIGCONT), p.ask("GoOn", Nothing{}, &Nothing{}))
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
