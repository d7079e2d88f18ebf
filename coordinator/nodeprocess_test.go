package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/rpc"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/coordinator/internal/raftnode/disktest"
	"github.com/palisade-go/palisade/internal/childtest"
	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/transport"
)

// nodeProcessVariable makes the test binary a node instead of running tests, or
// lets it only try to take a host name or to open a directory.
const (
	nodeProcessVariable = "PALISADE_TEST_NODE_PROCESS"
	asNode              = "node"
	asHost              = "host"
	asOpener            = "opener"
)

// The files that a node's process inherits: on one it serves its parent, on
// the other it calls the parent's register.
const (
	ordersFile   = 3
	registerFile = 4
)

// nodeProcess is a node in a process of its own. Its methods are what its
// parent may ask for.
type nodeProcess struct {
	register *rpc.Client
	number   coordinator.NodeID

	mu       sync.Mutex
	node     *coordinator.Coordinator
	controls inject.Controls
	groups   int
	leases   map[string]*coordinator.Lease
	load     *load
	dir      string
	disk     disktest.Disk
	room     atomic.Uint64 // what the node finds free on its disk
}

// NodeStart is the part of a Config that such a node is opened with.
type NodeStart struct {
	Dir             string
	NodeID          coordinator.NodeID
	Peers           map[coordinator.NodeID]string
	Groups          int
	Election, TTL   time.Duration
	HostName        string // to take first; empty: keep that of the machine
	SnapshotEntries uint64
	Disk            *DiskStart // nil: the real one
}

// Nothing is an argument or an answer without content.
type Nothing struct{}

// hostNamesCanBeSet tries whether a process may take a host name: containers
// often forbid it.
func hostNamesCanBeSet() error {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), nodeProcessVariable+"="+asHost)
	ownHostName(cmd)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return nil
}

// runNodeProcess serves the parent until it hangs up, and returns the exit
// status: 0 only if the node was closed and left no goroutine.
func runNodeProcess() int {
	if os.Getenv(nodeProcessVariable) == asHost {
		if err := setHostName("some-host"); err != nil {
			return complain(err)
		}
		return 0
	}
	if os.Getenv(nodeProcessVariable) == asOpener {
		return runOpener()
	}
	orders, err := childtest.Inherited(ordersFile)
	if err != nil {
		return complain(err)
	}
	calls, err := childtest.Inherited(registerFile)
	if err != nil {
		return complain(err)
	}
	p := &nodeProcess{register: rpc.NewClient(calls), leases: make(map[string]*coordinator.Lease)}
	server := rpc.NewServer()
	if err := server.RegisterName("Node", p); err != nil {
		return complain(err)
	}
	server.ServeConn(orders)
	if p.node != nil {
		return complain(errors.New("the parent has hung up and the node is still open"))
	}
	if err := errors.Join(p.register.Close(), goleak.Find()); err != nil {
		return complain(err)
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "node process:", err)
	return 1
}

// Open opens the node. The answer is the host name that the engine sees.
func (p *nodeProcess) Open(s NodeStart, host *string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.HostName != "" {
		if err := setHostName(s.HostName); err != nil {
			return fmt.Errorf("take the host name %q: %w", s.HostName, err)
		}
	}
	env := inject.Env{
		SnapshotEntries: s.SnapshotEntries,
		Opened:          func(c inject.Controls) { p.controls = c },
	}
	if s.Disk != nil {
		p.useDisk(*s.Disk, &env)
	}
	ctx := inject.With(context.Background(), env)
	node, err := coordinator.Open(ctx, coordinator.Config{
		Dir: s.Dir, Cluster: "processes", NodeID: s.NodeID, Peers: s.Peers, Groups: s.Groups,
		ElectionTimeout: s.Election, TTL: s.TTL, TLS: transport.Insecure,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	p.dir = s.Dir
	p.node, p.number, p.groups = node, s.NodeID, s.Groups
	*host, err = os.Hostname()
	return err
}

// WaitReady waits until all groups answer.
func (p *nodeProcess) WaitReady(Nothing, *Nothing) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return p.node.WaitReady(ctx)
}

// Acquire takes a lease that lasts long, and keeps it.
func (p *nodeProcess) Acquire(key string, got *token.Token) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lease, err := p.node.Acquire(ctx, key, coordinator.WithTTL(long))
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leases[key] = lease
	*got = lease.Token()
	return nil
}

// Held returns the token of a lease that was taken, and an error if it is lost.
func (p *nodeProcess) Held(key string, got *token.Token) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	*got = p.leases[key].Token()
	return p.leases[key].Err()
}

// Renew renews a lease that was taken: its group hears of something that this
// node sends from now on.
func (p *nodeProcess) Renew(key string, _ *Nothing) error {
	p.mu.Lock()
	lease := p.leases[key]
	p.mu.Unlock()
	for began := time.Now(); ; {
		// If a window remains but for the time since the call, what it counts from
		// was sent after that. Each try has as long for it as all before it took.
		since := time.Since(began) + 1
		ctx, cancel := context.WithTimeout(context.Background(), since)
		err := lease.Ensure(ctx, long*9/10-since)
		cancel()
		if !errors.Is(err, coordinator.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) || since > patience {
			return err
		}
	}
}

// Holder returns the token of the key's lease, whoever has it; zero if it is
// free.
func (p *nodeProcess) Holder(key string, got *token.Token) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	info, err := untilAnswered(ctx, func(ctx context.Context) (coordinator.KeyInfo, error) {
		return p.node.Inspect(ctx, key)
	})
	if err == nil && info.Holder != nil {
		*got = info.Holder.Token
	}
	return err
}

// Dumps returns the states of all groups, once all that was committed before
// the call has been applied here.
func (p *nodeProcess) Dumps(_ Nothing, dumps *[]string) error {
	if err := p.WaitReady(Nothing{}, nil); err != nil {
		return err
	}
	for group := 1; group <= p.groups; group++ {
		_, dump, err := p.controls.Dump(group)
		if err != nil {
			return err
		}
		*dumps = append(*dumps, dump)
	}
	return nil
}

// Close closes the node. The process ends when the parent hangs up.
func (p *nodeProcess) Close(Nothing, *Nothing) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	node := p.node
	p.node = nil
	return node.Close()
}
