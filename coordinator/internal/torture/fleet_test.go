package torture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/transport"
)

// settings are those of a run.
type settings struct {
	Nodes, Groups, Workers int
	Election, TTL          time.Duration
	SnapshotEntries        uint64
	Limit                  time.Duration // of everything that has to happen in the end
}

// fleet is a cluster whose nodes are processes.
type fleet struct {
	settings
	dir       string
	register  *Register
	links     []*link
	addresses []string // of node i+1 at i, as the next two
	papers    []transport.TLS
	homes     []string // where the data directory is
	mounted   string   // the home that is a file system of its own; "": none
	running   map[int]*process
	tally     *tally
}

func newFleet(s settings, dir string, addresses []string, papers []transport.TLS, t *tally) (*fleet, error) {
	f := &fleet{
		settings: s, dir: dir, addresses: addresses, papers: papers,
		register: newRegister(dir), running: map[int]*process{}, tally: t,
	}
	for node := 1; node <= s.Nodes; node++ {
		home := filepath.Join(dir, fmt.Sprintf("node-%d", node))
		if err := os.Mkdir(home, 0o700); err != nil {
			return nil, err
		}
		f.homes = append(f.homes, home)
		for to := 1; to <= s.Nodes; to++ {
			if to == node {
				continue
			}
			l, err := newLink(node, to, f.addresses[to-1])
			if err != nil {
				return nil, err
			}
			f.links = append(f.links, l)
		}
	}
	return f, nil
}

// members returns the numbers of all nodes.
func (f *fleet) members() []int {
	var all []int
	for node := 1; node <= f.Nodes; node++ {
		all = append(all, node)
	}
	return all
}

// data is a node's data directory, which can be renamed.
func (f *fleet) data(node int) string { return filepath.Join(f.homes[node-1], "data") }

// peers are the members as a node reaches them.
func (f *fleet) peers(node int) map[coordinator.NodeID]string {
	peers := map[coordinator.NodeID]string{coordinator.NodeID(node): f.addresses[node-1]}
	for _, l := range f.links {
		if l.from == node {
			peers[coordinator.NodeID(l.to)] = l.address()
		}
	}
	return peers
}

// start starts the process of a node and opens the node.
func (f *fleet) start(node int) (*process, error) {
	p, err := f.spawn(node)
	if err != nil {
		return nil, err
	}
	f.running[node] = p
	return p, p.ask("Open", f.opening(node), &p.incarnation)
}

// spawn starts a process, which is no node yet.
func (f *fleet) spawn(node int) (*process, error) {
	return startProcess(node, f.logName(node), f.register, f.Limit)
}

// opening is what a node is opened with.
func (f *fleet) opening(node int) NodeStart {
	return NodeStart{
		Dir: f.data(node), Number: node, Peers: f.peers(node), Groups: f.Groups, Election: f.Election, TTL: f.TTL,
		SnapshotEntries: f.SnapshotEntries, TLS: f.papers[node-1], Journals: f.dir,
	}
}

func (f *fleet) logName(node int) string {
	return filepath.Join(f.dir, fmt.Sprintf("node-%d.log", node))
}

// ready waits until a node is ready.
func (f *fleet) ready(node int) error {
	var r Readiness
	if err := f.running[node].ask("WaitReady", f.Limit, &r); err != nil {
		return err
	}
	if r.Problem != "" {
		return fmt.Errorf("node %d is not ready within %v: %s", node, f.Limit, r.Problem)
	}
	return nil
}

// kill ends a node with SIGKILL, after a last look.
func (f *fleet) kill(node int) error {
	if err := f.lookAt(node); err != nil {
		return err
	}
	return f.killUnseen(node)
}

// killUnseen ends a node that can't answer.
func (f *fleet) killUnseen(node int) error {
	p := f.running[node]
	delete(f.running, node)
	f.tally.ended(p)
	return p.kill()
}

// shutdown stops a node in good order.
func (f *fleet) shutdown(node int) error {
	if err := f.lookAt(node); err != nil {
		return err
	}
	p := f.running[node]
	delete(f.running, node)
	f.tally.ended(p)
	return errors.Join(p.ask("Shutdown", f.Limit, &Nothing{}), p.close())
}

// look takes samples of all nodes that run, and says whether one is not well,
// or a process has found something wrong.
func (f *fleet) look() error {
	for _, node := range f.members() {
		if f.running[node] != nil {
			if err := f.lookAt(node); err != nil {
				return err
			}
		}
	}
	return f.wrong()
}

// lookAt takes a sample of a node. A lease that its group has ended while its
// holder could trust it would be one that nobody revoked.
func (f *fleet) lookAt(node int) error {
	p := f.running[node]
	if err := p.look(); err != nil {
		return err
	}
	f.tally.saw(p)
	switch s := p.sample; {
	case s.Problem != "":
		return fmt.Errorf("node %d has stopped by itself: %s", node, s.Problem)
	case s.LostGroup > 0:
		return fmt.Errorf("node %d has lost %d leases to their groups within their windows", node, s.LostGroup)
	}
	return nil
}

// wrong returns what the processes have reported.
func (f *fleet) wrong() error {
	if wrong := f.register.reported(); len(wrong) > 0 {
		return fmt.Errorf("the workers report:\n%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// leader returns the running node that leads most groups.
func (f *fleet) leader() (node, groups int, err error) {
	if err := f.look(); err != nil {
		return 0, 0, err
	}
	for _, n := range f.members() {
		if p := f.running[n]; p != nil && p.sample.Leads > groups {
			node, groups = n, p.sample.Leads
		}
	}
	return node, groups, nil
}

// rest ends all work, and checks that the nodes agree and have nothing left.
func (f *fleet) rest() error {
	for _, node := range f.members() {
		if err := f.running[node].ask("Rest", f.Limit, &Nothing{}); err != nil {
			return err
		}
	}
	// A batch that was sent twice may still be on its way.
	for began := time.Now(); ; {
		var first []string
		agreed := true
		for _, node := range f.members() {
			var dumps []string
			if err := f.running[node].ask("Dumps", f.Limit, &dumps); err != nil {
				return err
			}
			if first == nil {
				first = dumps
			}
			agreed = agreed && slices.Equal(first, dumps)
			if !agreed && time.Since(began) > f.Limit {
				return fmt.Errorf("node %d has\n%s\nnode 1 has\n%s", node, dumps, first)
			}
		}
		if agreed {
			return nothingLeft(first)
		}
	}
}

// nothingLeft looks for requests in the states of the groups.
func nothingLeft(dumps []string) error {
	for i, dump := range dumps {
		for _, line := range strings.Split(dump, "\n") {
			for _, kind := range []string{"lease ", "wait ", "key "} {
				if strings.HasPrefix(line, kind) {
					return fmt.Errorf("group %d has something left after the last caller:\n%s", i+1, dump)
				}
			}
		}
	}
	return nil
}

// races looks for what the race detector has said of processes that were killed
// later.
func (f *fleet) races() error {
	for _, node := range f.members() {
		log, err := os.ReadFile(f.logName(node))
		if err != nil {
			return err
		}
		if bytes.Contains(log, []byte("WARNING: DATA RACE")) {
			return fmt.Errorf("node %d has a data race: see %s", node, f.logName(node))
		}
	}
	return nil
}

// close ends everything. After a failure the processes say where they are.
func (f *fleet) close(failed bool) error {
	for _, p := range f.running {
		if failed {
			p.dump()
		} else {
			_ = p.kill()
		}
	}
	for _, l := range f.links {
		l.close()
	}
	return f.unmount(failed)
}
