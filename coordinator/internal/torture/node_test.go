package torture

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/rpc"
	"os"
	"runtime"
	"time"

	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/internal/childtest"
	"github.com/palisade-go/palisade/transport"
)

// clusterName is that of the fleet's cluster.
const clusterName = "torture"

// The files that a node's process inherits: on one it serves its parent, on
// the other it calls the register.
const (
	ordersFile   = 3
	registerFile = 4
)

// Node is a node in a process of its own. Its methods are what its parent may
// ask for, one after the other.
type Node struct {
	register *rpc.Client
	number   int
	start    NodeStart
	node     *coordinator.Coordinator
	controls inject.Controls
	crew     *crew // nil: nobody works
}

// NodeStart is what a node is opened with.
type NodeStart struct {
	Dir             string
	Number          int
	Peers           map[coordinator.NodeID]string
	Groups          int
	Election, TTL   time.Duration
	SnapshotEntries uint64
	TLS             transport.TLS
	Journals        string // directory
}

// Nothing is an argument or an answer without content.
type Nothing struct{}

// runNode serves the parent until it hangs up, and returns the exit status: 0
// only if the node was closed and left no goroutine.
func runNode() int {
	orders, err := childtest.Inherited(ordersFile)
	if err != nil {
		return complain(err)
	}
	calls, err := childtest.Inherited(registerFile)
	if err != nil {
		return complain(err)
	}
	n := &Node{register: rpc.NewClient(calls)}
	server := rpc.NewServer()
	if err := server.Register(n); err != nil {
		return complain(err)
	}
	server.ServeConn(orders)
	if n.node != nil {
		return complain(errors.New("the parent has hung up and the node is still open"))
	}
	if err := errors.Join(n.register.Close(), goleak.Find()); err != nil {
		return complain(err)
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "node process:", err)
	return 1
}

// Open opens the node. The answer is its incarnation.
func (n *Node) Open(s NodeStart, incarnation *uint64) error {
	ctx := inject.With(context.Background(), inject.Env{
		SnapshotEntries: s.SnapshotEntries,
		Opened:          func(c inject.Controls) { n.controls = c },
	})
	node, err := coordinator.Open(ctx, coordinator.Config{
		Dir: s.Dir, Cluster: clusterName, NodeID: coordinator.NodeID(s.Number), Peers: s.Peers, Groups: s.Groups,
		ElectionTimeout: s.Election, TTL: s.TTL, TLS: s.TLS,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	n.node, n.number, n.start = node, s.Number, s
	*incarnation = node.Status().Incarnation
	return nil
}

// Readiness is what came of waiting for all groups.
type Readiness struct {
	Problem string                    // "" if they are ready
	Refused coordinator.RefusalReason // why a peer refuses this node for ever
}

// WaitReady waits until all groups answer.
func (n *Node) WaitReady(limit time.Duration, r *Readiness) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := n.node.WaitReady(ctx)
	if err == nil {
		return nil
	}
	r.Problem = err.Error()
	var refused *coordinator.RefusedError
	if errors.As(err, &refused) && refused.ByPeer && errors.Is(err, coordinator.ErrClosed) {
		r.Refused = refused.Reason
	}
	return nil
}

// Sample is what a node shows of itself.
type Sample struct {
	Goroutines int
	Problem    string // why it had to stop by itself
	DiskShort  bool
	Leads      int
	Terms      []uint64 // by group
	Requests   int

	Batches, Retries, RenewFailures  uint64
	LostWindow, LostLimit, LostGroup uint64
	Expiries                         uint64
	ExpiriesProposed, Sweeps         uint64
	SnapshotsMade, SnapshotsTaken    uint64
	Acquired, Busy, Timeouts         uint64
	Cancelled, Unavailable, Other    uint64
}

// Look answers with a sample, and never waits.
func (n *Node) Look(_ Nothing, s *Sample) error {
	status := n.node.Status()
	*s = Sample{
		Goroutines: runtime.NumGoroutine(), DiskShort: status.DiskErr != nil, Requests: status.Requests,
		Batches: status.Batches, Retries: status.Retries, RenewFailures: status.RenewFailures,
		LostWindow: status.LostWindow, LostLimit: status.LostLimit, LostGroup: status.LostGroup, Expiries: status.Expiries,
		Acquired: status.Acquired, Busy: status.Busy, Timeouts: status.Timeouts, Cancelled: status.Cancelled,
		Unavailable: status.Unavailable, Other: status.OtherFailures,
	}
	if status.Err != nil {
		s.Problem = status.Err.Error()
	}
	for _, g := range status.Groups {
		s.Terms = append(s.Terms, g.Term)
		if g.Leader == status.NodeID {
			s.Leads++
		}
		f := n.controls.Faults(g.Group)
		s.ExpiriesProposed += f.ExpiriesProposed
		s.Sweeps += f.SweepsProposed
		s.SnapshotsMade += f.SnapshotsCreated
		s.SnapshotsTaken += f.SnapshotsInstalled
	}
	return nil
}

// Dumps returns the states of all groups, once all that was committed before
// the call has been applied here.
func (n *Node) Dumps(limit time.Duration, dumps *[]string) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := n.node.WaitReady(ctx); err != nil {
		return err
	}
	return n.State(Nothing{}, dumps)
}

// State returns the states of all groups as they are here.
func (n *Node) State(_ Nothing, dumps *[]string) error {
	for group := 1; group <= n.start.Groups; group++ {
		_, dump, err := n.controls.Dump(group)
		if err != nil {
			return err
		}
		*dumps = append(*dumps, dump)
	}
	return nil
}

// WorkOrder starts a crew.
type WorkOrder struct {
	Generation, Workers int
	Seed                uint64
}

// Work lets workers run until Rest or Shutdown.
func (n *Node) Work(o WorkOrder, _ *Nothing) error {
	c, err := n.newCrew(o)
	n.crew = c
	return err
}

// Turn makes all workers go on with another generation, and returns when
// nobody has anything of the one before.
func (n *Node) Turn(generation int, _ *Nothing) error { return n.crew.turn(generation) }

// Progress makes each worker own a key of every group, once, and then wait for
// GoOn.
func (n *Node) Progress(_ Nothing, slowest *Turnabout) error { return n.crew.progress(slowest) }

// Poise makes workers own a key each, and wait for GoOn before they write once
// more, without a look at their leases.
func (n *Node) Poise(workers int, all *[]Poised) error { return n.crew.poise(workers, all) }

// GoOn ends the wait of a Progress or a Poise.
func (n *Node) GoOn(Nothing, *Nothing) error {
	close(n.crew.goOn)
	return nil
}

// Rest ends the work, and waits until the node has nothing left in any group.
func (n *Node) Rest(limit time.Duration, _ *Nothing) error {
	if err := n.crew.stop(); err != nil {
		return err
	}
	n.crew = nil
	// Withdrawals go on after their callers have left.
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	enough := time.NewTimer(limit)
	defer enough.Stop()
	for n.node.Status().Requests > 0 {
		select {
		case <-again.C:
		case <-enough.C:
			return fmt.Errorf("%d requests are left after the last caller", n.node.Status().Requests)
		}
	}
	return nil
}

// Shutdown stops the node in good order while its workers go on as long as they
// can. The process ends when the parent hangs up.
func (n *Node) Shutdown(limit time.Duration, _ *Nothing) error {
	if n.crew != nil {
		n.crew.leaving.Store(true)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := n.node.Shutdown(ctx)
	if n.crew != nil {
		err = errors.Join(err, n.crew.stop())
	}
	n.node = nil
	return err
}
