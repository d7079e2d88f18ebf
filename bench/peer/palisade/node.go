package palisade

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/transport"
)

// Role is what a node's process is started as.
const Role = "palisade"

// patience bounds what a node is asked to wait for.
const patience = 10 * time.Minute

// Node is the service of a node's process.
type Node struct {
	member.Crew
	node *coordinator.Coordinator
	load load
}

// NewNode makes a node that is not open yet.
func NewNode() member.Service { return &Node{} }

// Start is what a node is opened with.
type Start struct {
	Dir    string
	NodeID coordinator.NodeID
	Peers  map[coordinator.NodeID]string
	Groups int // 0: the library's default
}

// Open opens the node.
func (n *Node) Open(s Start, _ *member.Nothing) error {
	node, err := coordinator.Open(context.Background(), coordinator.Config{
		Dir: s.Dir, Cluster: "bench", NodeID: s.NodeID, Peers: s.Peers, Groups: s.Groups, TLS: transport.Insecure,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	n.node = node
	n.Workers = crew.NewSite(func(context.Context) (crew.Locker, error) { return &locker{node: node}, nil })
	return nil
}

// Ready is what a node saw until it was ready.
type Ready struct {
	// Leases of all nodes that were there at most: those that the stores had, and
	// those that came from the log.
	Leases int
}

// WaitReady waits until all groups answer.
func (n *Node) WaitReady(_ member.Nothing, seen *Ready) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ready := make(chan error, 1)
	go func() { ready <- n.node.WaitReady(ctx) }()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		leases, _ := n.standing()
		seen.Leases = max(seen.Leases, leases)
		select {
		case err := <-ready:
			return err
		case <-again.C:
		}
	}
}

// Leader answers which node leads the group of a key, 0 when none is known.
func (n *Node) Leader(key string, leader *coordinator.NodeID) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	info, err := n.node.Inspect(ctx, key)
	if err != nil {
		return err
	}
	for _, g := range n.node.Status().Groups {
		if g.Group == info.Group {
			*leader = g.Leader
		}
	}
	return nil
}

// Held is a key that a node is to take for good.
type Held struct {
	Key string
	TTL time.Duration
}

// Hold takes a key and keeps it.
func (n *Node) Hold(h Held, _ *member.Nothing) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := n.node.Acquire(ctx, h.Key, coordinator.WithTTL(h.TTL))
	return err
}

// Close closes the node when the benchmark hangs up.
func (n *Node) Close() error {
	if n.node == nil {
		return nil
	}
	n.load.leave()
	return errors.Join(n.Workers.Close(), n.node.Close())
}

// locker takes keys with one coordinator; all workers of a node share it.
type locker struct {
	node  *coordinator.Coordinator
	lease interface{ Release(context.Context) error } // nil: nothing is held
}

func (l *locker) Acquire(ctx context.Context, keys []string) error {
	if len(keys) == 1 {
		lease, err := l.node.Acquire(ctx, keys[0])
		if err != nil {
			return err
		}
		l.lease = lease
		return nil
	}
	leases, err := l.node.AcquireAll(ctx, keys)
	if err != nil {
		return err
	}
	l.lease = leases
	return nil
}

func (l *locker) Release(ctx context.Context) error {
	if l.lease == nil {
		return nil
	}
	err := l.lease.Release(ctx)
	l.lease = nil
	return err
}

func (l *locker) Close() error { return nil }
