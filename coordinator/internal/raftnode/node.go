package raftnode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/lni/dragonboat/v4"
	"github.com/lni/dragonboat/v4/client"
	sm "github.com/lni/dragonboat/v4/statemachine"

	"github.com/palisade-go/palisade/coordinator/internal/diskspace"
	"github.com/palisade-go/palisade/statemachine"
)

// Node is a running engine with one replica of every group. Its methods are
// safe for concurrent use.
type Node struct {
	cfg      Config
	log      *slog.Logger
	host     *dragonboat.NodeHost
	gate     gate
	replicas []*replica        // by group, from 1
	sessions []*client.Session // by group, from 1; what every proposal needs and nobody uses

	closing   chan struct{} // closed when Close begins
	stopped   chan struct{} // closed when the engine has stopped
	waiters   sync.WaitGroup
	own       sync.WaitGroup // offices, the herald and the disk's watch
	disk      *disk
	endOwn    context.CancelFunc
	quiet     func() // takes Logger out of the engine's logging
	closeMax  time.Duration
	closeOnce sync.Once
	closeErr  error
}

// Open starts the engine and the replicas of all groups on this node. It
// reads the machines from the store, and never waits for another node. On
// failure everything that was started is stopped again.
//
// Errors: ErrInvalid, ErrStraySettings, ErrHostChanged, ErrHostName,
// ErrDeployment, ErrIdentity, ErrLogStore, ErrEngineSettings, ErrLocked,
// ErrDamaged, ErrTorn, ErrRemoved, ErrEngine; what the store or package
// statemachine say about a machine that can't be loaded.
func Open(cfg Config) (*Node, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if cfg.Gauge == nil {
		cfg.Gauge = diskspace.Free
	}
	if err := CheckSurroundings(); err != nil {
		return nil, err
	}
	n := &Node{
		cfg:      cfg,
		log:      cfg.Logger,
		closing:  make(chan struct{}),
		stopped:  make(chan struct{}),
		closeMax: CloseMax,
		quiet:    logEngineTo(cfg.Logger),
	}
	if err := n.open(); err != nil {
		for _, r := range n.replicas {
			r.voice.mute()
		}
		n.quiet()
		return nil, err
	}
	return n, nil
}

func (n *Node) open() error {
	for group := statemachine.GroupID(1); group <= statemachine.GroupID(n.cfg.Groups); group++ {
		r, err := openReplica(n.cfg, group, n.retry())
		if err != nil {
			return err
		}
		n.replicas = append(n.replicas, r)
	}
	if err := n.checkLog(); err != nil {
		return err
	}
	if err := prepareDirectory(n.cfg); err != nil {
		return err
	}
	events := newListener(n.replicas)
	ctx, cancel := context.WithCancel(context.Background())
	n.endOwn = cancel
	if err := n.startEngine(events); err != nil {
		cancel()
		return err
	}
	n.disk = newDisk(n)
	n.own.Add(2 + len(n.replicas))
	go func() {
		defer n.own.Done()
		events.herald(ctx.Done())
	}()
	go func() {
		defer n.own.Done()
		n.disk.watch(ctx)
	}()
	for _, r := range n.replicas {
		o := &office{node: n, replica: r}
		go func() {
			defer n.own.Done()
			o.run(ctx)
		}()
	}
	return nil
}

// startEngine starts the engine and its replicas, or nothing.
func (n *Node) startEngine(events *listener) error {
	places := &registry{members: n.cfg.Members, resolve: n.cfg.Resolve}
	err := guard(func() (err error) {
		n.host, err = dragonboat.NewNodeHost(n.cfg.hostConfig(events, places))
		return err
	})
	if err == nil && n.host == nil {
		// The engine swallows a panic of its start that is not an error.
		err = errors.New("the engine gave up without saying why")
	}
	if err != nil {
		return startError(n.cfg.Dir, err)
	}
	for _, r := range n.replicas {
		if err := n.startReplica(r); err != nil {
			return errors.Join(err, within(n.closeMax, n.stopEngine))
		}
		n.sessions = append(n.sessions, n.host.GetNoOPSession(uint64(r.group)))
	}
	return nil
}

// startReplica starts the replica of a group and lets the engine open it once
// the log and the image are known to belong together.
func (n *Node) startReplica(r *replica) error {
	settings := n.cfg.replicaConfig(r.group)
	if err := settings.Validate(); err != nil {
		return fmt.Errorf("%w: group %d: %w", ErrEngine, r.group, err)
	}
	var born bool
	err := guard(func() error {
		born = n.host.HasNodeInfo(uint64(r.group), uint64(n.cfg.Node))
		return nil
	})
	if err != nil {
		return startError(n.cfg.Dir, err)
	}
	if !born && (n.cfg.Founded || r.counters.applied.Load() > 0) {
		return n.noLog(r)
	}
	// A replica that was started before is started without members: the
	// engine has kept them.
	members := make(map[uint64]string)
	if !born {
		for _, member := range n.cfg.Members {
			members[uint64(member)] = n.cfg.HostID(member)
		}
	}
	err = guard(func() error {
		return n.host.StartOnDiskReplica(members, false,
			func(uint64, uint64) sm.IOnDiskStateMachine { return r }, settings)
	})
	if err != nil {
		return startError(n.cfg.Dir, fmt.Errorf("group %d: %w", r.group, err))
	}
	if err := n.checkImage(r); err != nil {
		return err
	}
	close(r.cleared)
	return nil
}

// retry returns the time after which a proposal of the office is made again,
// and for which the engine keeps it: longer than an election takes.
func (n *Node) retry() time.Duration { return 2 * n.cfg.Election }

// replica returns the replica of a group, nil if there is none.
func (n *Node) replica(group statemachine.GroupID) *replica {
	if group < 1 || int(group) > n.cfg.Groups {
		return nil
	}
	return n.replicas[group-1]
}

// Leader returns who leads a group as far as this replica knows; the zero
// value when nobody does or the group is unknown. It never blocks.
func (n *Node) Leader(group statemachine.GroupID) LeaderInfo {
	r := n.replica(group)
	if r == nil {
		return LeaderInfo{}
	}
	leader, _ := r.leads()
	return leader
}

// Transfer asks the leader of a group to hand over to another member. It does
// not wait; that it worked shows in Sink.Leader. Until the hand-over has
// succeeded or an election timeout has passed, the leader drops proposals.
//
// Errors: ErrUnknownGroup, ErrClosed, ErrNotReady.
func (n *Node) Transfer(group statemachine.GroupID, to statemachine.NodeID) error {
	if n.replica(group) == nil {
		return fmt.Errorf("%w: %d", ErrUnknownGroup, group)
	}
	if !n.gate.enter() {
		return ErrClosed
	}
	defer n.gate.leave()
	if err := n.host.RequestLeaderTransfer(uint64(group), uint64(to)); err != nil {
		return fmt.Errorf("%w: transfer group %d to node %d: %w", ErrNotReady, group, to, err)
	}
	return nil
}

// CloseMax bounds how long Close waits for the engine, which itself waits for
// the snapshots being taken and the syncs of its log.
const CloseMax = 30 * time.Second

// Close stops everything. It hands over no leadership; see Transfer. Calls
// that are waiting end with ErrClosed or ErrUnknownOutcome; when it returns,
// every done was called and no Sink is called any more. It is idempotent:
// later calls wait for the first and return the same.
//
// It returns ErrStillRunning when the engine did not stop within 30 s, or a
// Sink or a function given to Read or View did not return: the directory and
// the store are still in use then, and only the end of the process frees
// them. ErrEngine: it stopped, but failed to close a file.
func (n *Node) Close() error {
	n.closeOnce.Do(func() { n.closeErr = n.close() })
	return n.closeErr
}

func (n *Node) close() error {
	close(n.closing)
	n.endOwn()
	err := within(n.closeMax, func() error {
		n.gate.close()
		n.own.Wait()
		return n.stopEngine()
	})
	close(n.stopped)
	n.waiters.Wait()
	for _, r := range n.replicas {
		r.voice.mute()
	}
	if !errors.Is(err, ErrStillRunning) {
		for _, r := range n.replicas {
			r.voice.silence()
		}
	}
	n.quiet()
	return err
}

// stopEngine closes the engine. It must be called once, and nothing else may
// call the engine any more.
func (n *Node) stopEngine() error {
	err := guard(func() error {
		n.host.Close()
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w: close the log in %s: %w", ErrEngine, n.cfg.Dir, err)
	}
	return nil
}

// within waits for call, but not for longer than bound: then it returns
// ErrStillRunning and leaves call running.
func within(bound time.Duration, call func() error) error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("%w: it did not stop within %v", ErrStillRunning, bound)
	}
}

// guard calls the engine and turns a panic into an error.
func guard(call func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = p
		default:
			err = fmt.Errorf("%v", p)
		}
	}()
	return call()
}
