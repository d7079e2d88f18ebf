package raftnode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/internal/porttest"
	"github.com/palisade-go/palisade/internal/saidtest"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
	"github.com/palisade-go/palisade/transport"
)

// patience bounds every wait of the tests. It is far above what they need on
// a busy machine; a test that reaches it has failed.
const patience = 3 * time.Minute

// cluster is some nodes in one process.
type cluster struct {
	t       testing.TB
	dir     string
	network *transport.Memory // nil: TCP
	change  func(*Config)
	groups  int
	members []statemachine.NodeID
	peers   map[statemachine.NodeID]*peer

	mu        sync.Mutex
	addresses map[statemachine.NodeID]string
}

// peer is one node of a cluster, running or not.
type peer struct {
	cluster *cluster
	id      statemachine.NodeID
	log     *saidtest.Log

	// Of the present run:
	node        *Node
	tcp         *transport.TCP // nil in memory
	store       *pebblestore.Store
	sinks       []*recorder // by group, from 1
	incarnation statemachine.Incarnation
	batches     []statemachine.BatchNumber // by group, from 1
	seq         statemachine.Seq
}

// option changes a cluster before it is started.
type option func(*cluster)

func withGroups(n int) option { return func(c *cluster) { c.groups = n } }

func withConfig(change func(*Config)) option { return func(c *cluster) { c.change = change } }

// steady makes an election timeout that no busy machine outlasts: who leads stays
// the leader for as long as a test needs to cut it off.
func steady() option {
	return withConfig(func(cfg *Config) { cfg.Election = 4 * election })
}

func overTCP() option { return func(c *cluster) { c.network = nil } }

// newCluster makes a cluster of n nodes, none of which runs.
func newCluster(t testing.TB, n int, options ...option) *cluster {
	c := &cluster{
		t: t, dir: t.TempDir(), groups: 1, change: func(*Config) {},
		network: transport.NewMemory(1),
		peers:   make(map[statemachine.NodeID]*peer), addresses: make(map[statemachine.NodeID]string),
	}
	for _, o := range options {
		o(c)
	}
	for id := statemachine.NodeID(1); id <= statemachine.NodeID(n); id++ {
		c.members = append(c.members, id)
		c.peers[id] = &peer{cluster: c, id: id, log: &saidtest.Log{}}
		c.move(id)
	}
	t.Cleanup(func() {
		for _, p := range c.peers {
			p.stop()
		}
		if c.network != nil {
			require.NoError(t, c.network.Close())
		}
		if t.Failed() {
			for _, p := range c.peers {
				t.Logf("log of node %d:\n%s", p.id, p.log)
			}
		}
	})
	return c
}

// start makes and starts a cluster of n nodes.
func start(t testing.TB, n int, options ...option) *cluster {
	c := newCluster(t, n, options...)
	for _, id := range c.members {
		require.NoError(t, c.peers[id].start())
	}
	return c
}

// move gives a node another address.
func (c *cluster) move(id statemachine.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.network == nil {
		c.addresses[id] = porttest.Take(c.t, 1)[0]
		return
	}
	c.addresses[id] = fmt.Sprintf("node-%d:%d", id, 7400+len(c.addresses[id]))
}

func (c *cluster) address(id statemachine.NodeID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addresses[id]
}

// election is short enough for quick tests, and long enough for two cores.
const election = 500 * time.Millisecond

// election returns the election timeout of a cluster. A single node elects
// itself, however busy the machine is.
func (c *cluster) election() time.Duration {
	if len(c.members) == 1 {
		return election / 5
	}
	return election
}

// deployment is that of all clusters.
const deployment = 77

func hostID(id statemachine.NodeID) string {
	return fmt.Sprintf("00000000-0000-5000-8000-%012x", uint64(id))
}

// config returns the configuration of a node, whose store is open.
func (p *peer) config() Config {
	c := p.cluster
	cfg := Config{
		Node:        p.id,
		Incarnation: p.incarnation,
		Members:     c.members,
		Groups:      c.groups,
		Dir:         filepath.Join(p.dir(), "raft"),
		Deployment:  deployment,
		HostID:      hostID,
		Resolve: func(id statemachine.NodeID) (string, error) {
			return c.address(id), nil
		},
		Address: c.address(p.id),
		Listen:  c.address(p.id),
		Network: p.join(),
		Store:   p.store,
		Genesis: func(group statemachine.GroupID) statemachine.Genesis {
			return statemachine.Genesis{Group: group, Epoch: 1, Members: c.members}
		},
		Election: c.election(),
		Clock:    clock.System{},
		Logger:   slog.New(slog.NewTextHandler(p.log, nil)),
		Sink:     func(group statemachine.GroupID) Sink { return p.sinks[group-1] },
	}
	c.change(&cfg)
	return cfg
}

// join makes the node a member of the cluster's network, as its next start.
func (p *peer) join() transport.Network {
	t := p.cluster.t
	member := transport.Member{Self: hello(p.id, p.incarnation)}
	if p.cluster.network != nil {
		network, err := p.cluster.network.Join(member)
		require.NoError(t, err)
		return network
	}
	var err error
	p.tcp, err = transport.NewTCP(transport.TCPConfig{Member: member, TLS: transport.Insecure})
	require.NoError(t, err)
	return p.tcp
}

// leave ends the node's part of a network over TCP.
func (p *peer) leave() {
	if p.tcp != nil {
		require.NoError(p.cluster.t, p.tcp.Close())
		p.tcp = nil
	}
}

// hello is what a node says of itself.
func hello(id statemachine.NodeID, incarnation statemachine.Incarnation) transport.Hello {
	return transport.Hello{
		Cluster: [32]byte{77}, Node: uint64(id), Directory: [16]byte{byte(id)},
		Incarnation: uint64(incarnation), Start: [16]byte{byte(id), byte(incarnation)},
		Protocol: transport.Versions{Lowest: 1, Highest: 1},
	}
}

func (p *peer) dir() string { return filepath.Join(p.cluster.dir, fmt.Sprintf("node-%d", p.id)) }

// start opens the store and the node, as the next incarnation.
func (p *peer) start() error {
	store, err := pebblestore.Open(filepath.Join(p.dir(), "store"), pebblestore.Options{})
	if err != nil {
		return err
	}
	p.store = store
	p.incarnation++
	p.seq = 0
	p.batches = make([]statemachine.BatchNumber, p.cluster.groups)
	p.sinks = nil
	for range p.cluster.groups {
		p.sinks = append(p.sinks, newRecorder())
	}
	node, err := Open(p.config())
	if err != nil {
		p.leave()
		return errors.Join(err, store.Close())
	}
	p.node = node
	return nil
}

// stop closes the node and the store, if they are open, and checks that no
// Sink hears of it afterwards.
func (p *peer) stop() {
	if p.node == nil {
		return
	}
	require.NoError(p.cluster.t, p.node.Close())
	p.node = nil
	p.leave()
	for _, sink := range p.sinks {
		sink.mu.Lock()
		sink.closed = true
		sink.mu.Unlock()
	}
	require.NoError(p.cluster.t, p.store.Close())
	for _, sink := range p.sinks {
		sink.mu.Lock()
		require.Zero(p.cluster.t, sink.late, "calls of the Sink after Close")
		require.Zero(p.cluster.t, sink.overlaps, "overlapping calls of the Sink")
		sink.mu.Unlock()
	}
}

// batch numbers the next batch of a node.
func (p *peer) batch(group statemachine.GroupID, commands ...statemachine.Command) statemachine.Batch {
	p.batches[group-1]++
	return statemachine.Batch{
		Node: p.id, Directory: statemachine.DirectoryID{byte(p.id)}, Incarnation: p.incarnation,
		Number: p.batches[group-1], Speaks: statemachine.Binary, Commands: commands,
	}
}

// propose hands bytes to the engine and returns what done was told.
func (p *peer) propose(group statemachine.GroupID, data []byte, timeout time.Duration) error {
	p.cluster.t.Helper()
	result := make(chan error, 1)
	p.node.Propose(group, data, timeout, func(err error) { result <- err })
	select {
	case err := <-result:
		return err
	case <-time.After(patience):
		require.FailNow(p.cluster.t, "done was not called")
		return nil
	}
}

// send proposes the next batch of a node until its event is there.
func (p *peer) send(group statemachine.GroupID, commands ...statemachine.Command) {
	p.cluster.t.Helper()
	p.deliver(group, p.batch(group, commands...))
}

// deliver proposes a batch, the same bytes again and again, until this node
// has applied it.
func (p *peer) deliver(group statemachine.GroupID, b statemachine.Batch) {
	p.cluster.t.Helper()
	data, err := statemachine.AppendBatch(nil, b)
	require.NoError(p.cluster.t, err)
	deadline := time.Now().Add(patience)
	for p.propose(group, data, 2*election) != nil {
		require.Less(p.cluster.t, time.Now(), deadline, "a batch was not applied")
		p.pause(group)
	}
	want := statemachine.Applied{Node: b.Node, Incarnation: b.Incarnation, Number: b.Number}
	sink := p.sinks[group-1]
	sink.await(p.cluster.t, fmt.Sprintf("%+v", want), func() bool {
		if n := len(sink.installed); n > 0 { // it may be covered by a snapshot
			known := sink.installed[n-1].Presence
			if known.Incarnation == b.Incarnation && known.Last >= b.Number {
				return true
			}
		}
		return sink.find(func(e statemachine.Event) bool { return reflect.DeepEqual(e, statemachine.Event(want)) })
	})
}

// pause waits for a change of leader, for a short time: a proposal was just
// refused.
func (p *peer) pause(group statemachine.GroupID) {
	sink := p.sinks[group-1]
	sink.mu.Lock()
	changed := sink.changed
	sink.mu.Unlock()
	select {
	case <-changed:
	case <-time.After(election / 5):
	}
}

// acquire gets a lease on a key.
func (p *peer) acquire(group statemachine.GroupID, key string, ttl time.Duration) statemachine.LeaseID {
	p.cluster.t.Helper()
	p.seq++
	p.send(group, statemachine.Acquire{
		Seq: p.seq, Claims: []statemachine.Claim{{Key: key, Mode: statemachine.Exclusive}}, Wait: true, TTL: ttl,
	})
	return statemachine.LeaseID{Node: p.id, Incarnation: p.incarnation, Seq: p.seq}
}

// read returns the group's whole state, not older than the call.
func (p *peer) read(group statemachine.GroupID) string {
	p.cluster.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var dump bytes.Buffer
	require.NoError(p.cluster.t, p.node.Read(ctx, group, func(m *statemachine.Machine) {
		require.NoError(p.cluster.t, m.Dump(&dump))
		require.NoError(p.cluster.t, m.Check())
	}))
	return dump.String()
}

// everywhere waits until every node that runs has applied what any of them had
// applied before. A batch that its own node has seen applied need not be applied
// by the others yet, not even by the leader.
func (c *cluster) everywhere(group statemachine.GroupID) {
	c.t.Helper()
	for _, p := range c.peers {
		if p.node != nil {
			p.read(group)
		}
	}
}

// leader waits until a running node leads a group and the others know it.
func (c *cluster) leader(group statemachine.GroupID) *peer {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		var leading *peer
		agreed := 0
		running := 0
		for _, p := range c.peers {
			if p.node == nil {
				continue
			}
			running++
			info := p.node.Leader(group)
			if leading == nil {
				leading = c.peers[info.Leader]
			}
			if leading != nil && info.Leader == leading.id {
				agreed++
			}
		}
		if leading != nil && leading.node != nil && agreed == running {
			return leading
		}
		require.Less(c.t, time.Now(), deadline, "no leader")
		c.anyone().pause(group)
	}
}

// sum adds up a count over the nodes that run: another one may lead than did.
func (c *cluster) sum(count func(Stats) uint64) (sum uint64) {
	for _, p := range c.peers {
		if p.node != nil {
			sum += count(p.node.Stats(1))
		}
	}
	return sum
}

func expiriesProposed(s Stats) uint64 { return s.ExpireProposed }

// anyone returns a running node.
func (c *cluster) anyone() *peer {
	for _, id := range c.members {
		if c.peers[id].node != nil {
			return c.peers[id]
		}
	}
	require.FailNow(c.t, "no node runs")
	return nil
}

// other returns a running node that is not p.
func (c *cluster) other(not ...*peer) *peer {
next:
	for _, id := range c.members {
		for _, p := range not {
			if p.id == id {
				continue next
			}
		}
		if c.peers[id].node != nil {
			return c.peers[id]
		}
	}
	require.FailNow(c.t, "no other node runs")
	return nil
}
