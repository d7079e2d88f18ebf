package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/admission"
	"github.com/palisade-go/palisade/coordinator/internal/batcher"
	"github.com/palisade-go/palisade/coordinator/internal/diskspace"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/coordinator/internal/identity"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
	"github.com/palisade-go/palisade/transport"
)

// Coordinator is one node of a cluster, inside this process. All its methods
// are safe for concurrent use.
type Coordinator struct {
	cfg      Config
	env      inject.Env
	identity *identity.Identity
	store    *pebblestore.Store
	node     *raftnode.Node
	gate     *admission.Gate   // nil for a single node
	joined   transport.Network // what the gate's member has joined; nil without a gate
	network  io.Closer         // what the node listens and dials with, if it is its own
	// endGreeting ends what greet began; nil before.
	endGreeting func()
	groups      []*group // group i+1 is at i
	metrics     *metrics
	feed        *feed // nil: nobody observes
	shared      *sharedRequests

	// life ends when the coordinator takes no more requests, with the cause.
	life    context.Context
	endLife context.CancelCauseFunc
	// dead is closed when nothing will be confirmed any more: all goroutines
	// are about to end, or the groups may not be spoken to.
	dead chan struct{}
	die  func()         // closes dead, once
	work sync.WaitGroup // goroutines on behalf of callers

	nextSeq, nextRef, nextRequest atomic.Uint64

	mu      sync.Mutex
	owned   map[*ownership]struct{} // all that some group may have something of
	closing bool
	err     error // why the node had to stop by itself

	closeOnce sync.Once
	closeErr  error
}

// Open starts one node and its replicas of all groups. It never waits for
// other nodes: calls wait by themselves until their group has a quorum, and
// WaitReady waits for all groups. The context bounds nothing but the start.
//
// On failure nothing runs and the directory is free again. The error wraps
// ErrInvalid and names every problem if the configuration is wrong. With less
// than DiskSpaceMin free it is a *DiskSpaceError, and nothing was made or
// changed. A directory that can't be used is ErrDirectoryInUse,
// ErrDirectoryFormat, ErrDirectoryDamaged or a *MismatchError; an address that
// has a listener is transport.ErrAddressInUse. Other errors name the directory,
// address or file concerned: a dragonboat-*-settings.json in the working
// directory, for one, which the Raft engine would read. Unless the error is
// about what the directory holds, nothing was made or changed there.
func Open(ctx context.Context, cfg Config) (*Coordinator, error) {
	if err := checkContext("Open", "", ctx); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &Coordinator{
		cfg: cfg, env: inject.From(ctx), metrics: &metrics{},
		dead: make(chan struct{}), owned: map[*ownership]struct{}{},
	}
	c.die = sync.OnceFunc(func() { close(c.dead) })
	c.shared = &sharedRequests{c: c, byID: map[string]*sharedRequest{}}
	c.life, c.endLife = context.WithCancelCause(context.Background())
	c.feed = newFeed(cfg.Observers)
	if err := c.start(ctx); err != nil {
		c.endLife(ErrClosed)
		c.feed.end()
		return nil, &Error{"Open", "", NotApplied, errors.Join(startError(cfg.Dir, err), c.stopStores(err))}
	}
	if c.env.Opened != nil {
		c.env.Opened(c.controls())
	}
	return c, nil
}

// start opens what a node is made of, from the directory upwards. On failure
// the caller stops what was started.
//
// What does not need the directory is checked before it is touched, so that a
// start that fails for it is not counted.
func (c *Coordinator) start(ctx context.Context) (err error) {
	if err := raftnode.CheckSurroundings(); err != nil {
		return err
	}
	if err := diskspace.Check(c.env.Gauge, c.cfg.Dir); err != nil {
		return err
	}
	if err := c.checkListen(ctx); err != nil {
		return err
	}
	certificate := identity.Certificate{
		Cluster: c.cfg.Cluster, Members: c.cfg.members(), Groups: c.cfg.Groups,
		Slots: slotCount, Hash: slotHash, Epoch: c.cfg.Epoch, Engine: raftnode.EngineConstants,
	}
	if c.identity, err = identity.Open(c.cfg.Dir, statemachine.NodeID(c.cfg.NodeID), certificate); err != nil {
		return err
	}
	c.store, err = pebblestore.Open(filepath.Join(c.cfg.Dir, identity.MachinesDir), pebblestore.Options{FS: c.env.StoreFS, Logger: c.cfg.Logger})
	if err != nil {
		return err
	}
	for i := range c.cfg.Groups {
		g := newGroup(statemachine.GroupID(i+1), c.hubConfig(), c.env.Clock, c.metrics, c.fail, c.env.Moved)
		g.feed = c.feed
		c.groups = append(c.groups, g)
	}
	network, err := c.openNetwork()
	if err != nil {
		return err
	}
	if c.node, err = raftnode.Open(c.nodeConfig(network)); err != nil {
		return err
	}
	// Not before the logs are there: whoever was admitted has one.
	if c.gate != nil {
		c.greet()
	} else if err := c.identity.Peers.Admit(); err != nil {
		// The stores are about to be closed under the engine.
		return errors.Join(err, c.node.Close())
	}
	for _, g := range c.groups {
		g.proposer = c.node
		g.unavailable = c.unavailable
		g.view = func(look func(*statemachine.Machine)) error { return c.node.View(g.id, look) }
		g.applying = func() (time.Time, bool) { return c.node.ApplyingSince(g.id) }
		c.place(g)
		go g.run()
	}
	return nil
}

func (c *Coordinator) nodeConfig(network transport.Network) raftnode.Config {
	id := c.identity
	return raftnode.Config{
		Node: id.Node, Incarnation: id.Incarnation, Members: id.Certificate.Members, Groups: c.cfg.Groups,
		Dir:        filepath.Join(id.Dir, identity.RaftDir),
		Deployment: id.Certificate.Deployment(),
		HostID:     func(n statemachine.NodeID) string { return identity.HostID(c.cfg.Cluster, n) },
		Resolve:    c.resolvePeer,
		Address:    c.cfg.Peers[c.cfg.NodeID],
		Listen:     c.listen(),
		Network:    network,
		Store:      c.store,
		Genesis: func(g statemachine.GroupID) statemachine.Genesis {
			return statemachine.Genesis{Group: g, Epoch: id.Certificate.Epoch, Members: id.Certificate.Members}
		},
		Election: c.cfg.ElectionTimeout, Clock: c.env.Clock, Logger: c.cfg.Logger,
		Founded:         id.Peers.Admitted(),
		Sink:            func(g statemachine.GroupID) raftnode.Sink { return c.groups[g-1] },
		SnapshotEntries: c.env.SnapshotEntries,
		Gauge:           c.env.Gauge, LogFS: c.env.LogFS, FS: c.env.EngineFS,
	}
}

func (c *Coordinator) resolvePeer(n statemachine.NodeID) (string, error) {
	address, ok := c.cfg.Peers[NodeID(n)]
	if !ok {
		return "", fmt.Errorf("node %d is not a member", n)
	}
	return address, nil
}

func (c *Coordinator) hubConfig() hub.Config {
	return hub.Config{
		Identity: batcher.Identity{Node: c.identity.Node, Directory: c.identity.Directory, Incarnation: c.identity.Incarnation},
		NextSeq:  func() statemachine.Seq { return statemachine.Seq(c.nextSeq.Add(1)) },
		Wall:     func() int64 { return c.env.Wall().UnixNano() },
		Attempt:  c.cfg.ElectionTimeout,
		Backoff:  c.cfg.ElectionTimeout / 20,
	}
}

func (c *Coordinator) newRef() hub.Ref { return hub.Ref(c.nextRef.Add(1)) }

// WaitReady waits until every group has a leader and this node has caught up
// with it, or ctx ends. A new cluster is ready once all its nodes have met. One
// round between the nodes for each group.
//
// The error names the first group that is not ready, and each peer that
// refuses this node or is refused, as a *RefusedError. It comes at once if a
// peer refuses this node for ever, which has to stop then, and if the node is
// short of disk space (ErrUnavailable with ErrDiskSpace).
func (c *Coordinator) WaitReady(ctx context.Context) error {
	if err := checkContext("WaitReady", "", ctx); err != nil {
		return err
	}
	if err := c.acceptsNew(); err != nil {
		return &Error{"WaitReady", "", NotApplied, err}
	}
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	for _, g := range c.groups {
		err := c.node.Read(bounded, g.id, func(*statemachine.Machine) {})
		switch {
		case err == nil:
			continue
		case c.life.Err() != nil:
			err = context.Cause(c.life)
		case ctx.Err() != nil:
			err = fmt.Errorf("group %d: %w", g.id, c.unavailable(endOf(ctx)))
		default:
			err = fmt.Errorf("group %d: %w", g.id, c.unavailable(err))
		}
		return &Error{"WaitReady", "", NotApplied, err}
	}
	return nil
}

// Done returns a channel that is closed when the coordinator takes no more
// requests: Shutdown or Close has begun, or it had to stop by itself, which
// Status.Err tells then. A program ends in the last case, and is started again.
func (c *Coordinator) Done() <-chan struct{} { return c.life.Done() }

// accepts returns why the coordinator takes no more requests; nil: it does.
func (c *Coordinator) accepts() error {
	if c.life.Err() == nil {
		return nil
	}
	return context.Cause(c.life)
}

// remember counts an ownership in, before anything is asked for it.
func (c *Coordinator) remember(o *ownership) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return context.Cause(c.life)
	}
	if len(c.owned) >= c.cfg.Limits.Requests {
		return fmt.Errorf("%w: %d requests of this node wait or hold", ErrQueueFull, len(c.owned))
	}
	c.owned[o] = struct{}{}
	return nil
}

// forget counts an ownership out: no group has anything left of it.
func (c *Coordinator) forget(o *ownership) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.owned, o)
}

func (c *Coordinator) openRequests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.owned)
}

// ownerships returns all that some group may have something of.
func (c *Coordinator) ownerships() []*ownership {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*ownership, 0, len(c.owned))
	for o := range c.owned {
		all = append(all, o)
	}
	return all
}

// refuse makes all calls fail from now on, those that wait too.
func (c *Coordinator) refuse(cause error) {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.endLife(cause)
}

// fail ends all that this node has, because it may no longer speak for its
// id. The process goes on; the Coordinator still has to be closed.
func (c *Coordinator) fail(cause error) {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = cause
	}
	c.mu.Unlock()
	if !first {
		return
	}
	c.cfg.Logger.Error("this node has to stop", "node", c.cfg.NodeID, "cause", cause)
	if c.gate != nil {
		c.gate.Stop() // its replicas must not vote any more, either
	}
	c.refuse(fmt.Errorf("%w: %w", ErrClosed, cause))
	for _, o := range c.ownerships() {
		o.fail(cause)
	}
	c.die()
}

func (c *Coordinator) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// background runs work on behalf of callers that may have left; Close waits
// for it. It returns false, and does nothing, once the coordinator is closing.
func (c *Coordinator) background(work func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		work()
	}()
	return true
}
