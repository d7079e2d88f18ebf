package coordinator_test

import (
	"errors"
	"fmt"
	"net/rpc"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/internal/childtest"
	"github.com/palisade-go/palisade/internal/porttest"
	"github.com/palisade-go/palisade/internal/saidtest"
)

// fleet is a cluster whose nodes are processes that talk over TCP.
type fleet struct {
	t        *testing.T
	dir      string
	register *Register
	peers    map[coordinator.NodeID]string
	election time.Duration
	ttl      time.Duration
	change   func(*NodeStart) // of each start
	running  map[coordinator.NodeID]*process
}

// fleetGroups is how many groups a fleet has.
const fleetGroups = 3

// process is one node of a fleet while its process runs.
type process struct {
	t      *testing.T
	number coordinator.NodeID
	cmd    *exec.Cmd
	stderr saidtest.Log
	orders *rpc.Client
	host   string
}

// newFleet makes a fleet of n nodes, none of which runs.
func newFleet(t *testing.T, n int, election, ttl time.Duration) *fleet {
	f := &fleet{
		t: t, dir: t.TempDir(), register: newRegister(), peers: make(map[coordinator.NodeID]string),
		election: election, ttl: ttl, change: func(*NodeStart) {}, running: make(map[coordinator.NodeID]*process),
	}
	for i, address := range porttest.Take(t, n) {
		f.peers[coordinator.NodeID(i+1)] = address
	}
	t.Cleanup(func() {
		for _, p := range f.running {
			p.kill()
		}
	})
	return f
}

// members returns the numbers of all nodes.
func (f *fleet) members() []coordinator.NodeID {
	var all []coordinator.NodeID
	for id := range f.peers {
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// start starts a node's process and opens the node.
func (f *fleet) start(number coordinator.NodeID, setUp ...func(*exec.Cmd)) *process {
	f.t.Helper()
	p, err := f.tryStart(number, setUp...)
	require.NoError(f.t, err, "open node %d", number)
	return p
}

// tryStart is start, of a node that may not open. Its process runs until it is
// killed, or has ended by itself.
func (f *fleet) tryStart(number coordinator.NodeID, setUp ...func(*exec.Cmd)) (*process, error) {
	f.t.Helper()
	p := &process{t: f.t, number: number, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), nodeProcessVariable+"="+asNode)
	p.cmd.Stderr = &p.stderr
	for _, set := range setUp {
		set(p.cmd)
	}
	orders, theirOrders, err := childtest.SocketPair()
	require.NoError(f.t, err)
	calls, theirCalls, err := childtest.SocketPair()
	require.NoError(f.t, err)
	p.cmd.ExtraFiles = []*os.File{theirOrders, theirCalls} // from 3 on
	require.NoError(f.t, p.cmd.Start())
	require.NoError(f.t, errors.Join(theirOrders.Close(), theirCalls.Close()))
	p.orders = rpc.NewClient(orders)
	server := rpc.NewServer()
	require.NoError(f.t, server.RegisterName("Register", f.register))
	go server.ServeConn(calls)

	f.running[number] = p
	s := NodeStart{
		Dir: filepath.Join(f.dir, fmt.Sprintf("node-%d", number)), NodeID: number, Peers: f.peers,
		Groups: fleetGroups, Election: f.election, TTL: f.ttl,
	}
	f.change(&s)
	return p, p.try("Open", s, &p.host)
}

// ready waits until the nodes, by default all, are ready.
func (f *fleet) ready(numbers ...coordinator.NodeID) {
	f.t.Helper()
	if len(numbers) == 0 {
		numbers = f.members()
	}
	for _, number := range numbers {
		f.running[number].ask("WaitReady", Nothing{}, &Nothing{})
	}
}

// kill ends a node's process with SIGKILL.
func (f *fleet) kill(number coordinator.NodeID) {
	f.running[number].kill()
	delete(f.running, number)
}

// close closes a node, and checks that its process ends well.
func (f *fleet) close(number coordinator.NodeID) {
	f.t.Helper()
	p := f.running[number]
	delete(f.running, number)
	defer p.kill()
	p.ask("Close", Nothing{}, &Nothing{})
	require.NoError(f.t, p.orders.Close())
	require.NoError(f.t, p.cmd.Wait(), "the process of node %d:\n%s", number, &p.stderr)
	require.NotContains(f.t, p.stderr.String(), "panic", "what node %d said", number)
}

// kill ends the process, whether it runs or not, and shows what it said if the
// test has failed.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.orders.Close()
	if p.t.Failed() {
		p.t.Logf("node %d said:\n%s", p.number, &p.stderr)
	}
}

// try asks the process for something.
func (p *process) try(what string, args, answer any) error {
	return p.orders.Call("Node."+what, args, answer)
}

// ask is try, and fails the test on an error.
func (p *process) ask(what string, args, answer any) {
	p.t.Helper()
	require.NoError(p.t, p.try(what, args, answer), "%s on node %d", what, p.number)
}

// equalDumps waits until all nodes have the same state, and returns it by group.
// The cluster must be at rest; a batch that was sent twice may still be on its
// way.
func (f *fleet) equalDumps() []string {
	f.t.Helper()
	ended := patient(f.t)
	for {
		var first []string
		differs := coordinator.NodeID(0)
		for _, number := range f.members() {
			var dumps []string
			f.running[number].ask("Dumps", Nothing{}, &dumps)
			switch {
			case first == nil:
				first = dumps
			case !slices.Equal(first, dumps):
				differs = number
				require.NoError(f.t, ended.Err(), "node %d has\n%s\nnode 1 has\n%s", number, dumps, first)
			}
		}
		if differs == 0 {
			return first
		}
	}
}

// requestsIn returns the lines of a dump that tell of leases and waits.
func requestsIn(dump string) []string {
	var found []string
	for _, line := range strings.Split(dump, "\n") {
		if strings.HasPrefix(line, "lease ") || strings.HasPrefix(line, "wait ") || strings.HasPrefix(line, "key ") {
			found = append(found, line)
		}
	}
	return found
}
