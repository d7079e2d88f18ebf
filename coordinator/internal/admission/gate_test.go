package admission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/identity"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// patience bounds every wait; a test that reaches it has failed.
const patience = 3 * time.Minute

// town is three nodes on a network in memory.
type town struct {
	t       *testing.T
	network *transport.Memory
}

func newTown(t *testing.T) *town {
	network := transport.NewMemory(1)
	t.Cleanup(func() { require.NoError(t, network.Close()) })
	return &town{t, network}
}

// node is one start of a node.
type node struct {
	town     *town
	identity *identity.Identity
	gate     *Gate
	inner    transport.Network
	outer    transport.Network
	got      chan string // frames that came through
	failed   chan *transport.RefusedError
	log      *strings.Builder
	stop     func()
}

func address(id statemachine.NodeID) string { return fmt.Sprintf("node-%d:1", id) }

// start opens a directory as a node that listens and greets.
func (w *town) start(id statemachine.NodeID, dir string) *node {
	w.t.Helper()
	n := w.open(id, dir)
	listener, err := n.outer.Listen(address(id), n)
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.gate.Run(ctx, n.inner)
	}()
	stopped := false
	n.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		<-done
		require.NoError(w.t, listener.Close())
		require.NoError(w.t, n.identity.Close())
	}
	w.t.Cleanup(n.stop)
	return n
}

// open makes a node that does nothing by itself.
func (w *town) open(id statemachine.NodeID, dir string) *node {
	w.t.Helper()
	who, err := identity.Open(dir, id, identity.Certificate{Cluster: "town", Members: []statemachine.NodeID{1, 2, 3}})
	require.NoError(w.t, err)
	n := &node{
		town: w, identity: who, got: make(chan string, 10), failed: make(chan *transport.RefusedError, 10), log: &strings.Builder{},
	}
	n.gate = New(Config{
		Self: transport.Hello{
			Cluster: who.Certificate.Sum(), Node: uint64(id), Directory: who.Directory,
			Incarnation: uint64(who.Incarnation), Start: who.Start, Protocol: transport.Versions{Lowest: 1, Highest: 1},
		},
		Addresses: map[statemachine.NodeID]string{1: address(1), 2: address(2), 3: address(3)},
		Peers:     who.Peers, Retry: time.Millisecond, Again: time.Millisecond, Logger: slog.New(slog.NewTextHandler(n.log, nil)),
		Fail:    func(r *transport.RefusedError) { n.failed <- r },
		Explain: func(r *transport.RefusedError) error { return errors.New("in other words: " + r.Reason) },
	})
	n.inner, err = w.network.Join(n.gate.Member())
	require.NoError(w.t, err)
	n.outer = n.gate.Network(n.inner)
	return n
}

// Receive implements transport.Handler.
func (n *node) Receive(_ transport.Peer, _ transport.Kind, frame []byte) error {
	n.got <- string(frame)
	return nil
}

func (n *node) dial(to statemachine.NodeID) (transport.Link, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return n.outer.Dial(ctx, address(n.identity.Node), address(to), transport.Messages)
}

// dialInVain dials a node that refuses this one for ever. The dial that the gate
// makes by itself may have learned it first.
func (n *node) dialInVain(to statemachine.NodeID) {
	n.town.t.Helper()
	_, err := n.dial(to)
	if !errors.Is(err, errFailed) {
		require.ErrorIs(n.town.t, err, transport.ErrRefused)
	}
}

// send dials a node and sends one frame.
func (n *node) send(to statemachine.NodeID, frame string) {
	n.town.t.Helper()
	link, err := n.dial(to)
	require.NoError(n.town.t, err)
	n.town.t.Cleanup(func() { require.NoError(n.town.t, link.Close()) })
	require.NoError(n.town.t, link.Send([]byte(frame)))
}

func await[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		require.FailNow(t, "in vain", "waiting for %s", what)
		panic("unreachable")
	}
}

// born returns the directories of a town whose nodes have all met.
func (w *town) born() [3]string {
	var dirs [3]string
	var nodes []*node
	for i := range dirs {
		dirs[i] = w.t.TempDir()
		nodes = append(nodes, w.start(statemachine.NodeID(i+1), dirs[i]))
	}
	for _, n := range nodes {
		await(w.t, n.gate.admitted, "the admission")
	}
	for _, n := range nodes {
		n.stop()
	}
	return dirs
}

func TestABlankNodeIsSilentUntilEveryPeerHasSaidYes(t *testing.T) {
	w := newTown(t)
	one, two := w.start(1, t.TempDir()), w.start(2, t.TempDir())
	await(t, reached(one, 2), "node 1 to reach node 2")
	require.False(t, one.gate.Admitted())
	ctx, cancel := context.WithCancel(context.Background())
	waiting := make(chan error, 1)
	go func() {
		_, err := one.outer.Dial(ctx, address(1), address(2), transport.Messages)
		waiting <- err
	}()
	// What comes is dropped: this frame gets past the sender's gate only
	// because it takes the inner network.
	link, err := two.inner.Dial(ctx, address(2), address(1), transport.Messages)
	require.NoError(t, err)
	require.NoError(t, link.Send([]byte("too early")))
	snapshot, err := two.inner.Dial(ctx, address(2), address(1), transport.Chunks)
	require.NoError(t, err)
	for snapshot.Send([]byte("part")) == nil { // a snapshot is refused aloud, not dropped
		runtimeYield()
	}
	cancel()
	require.ErrorIs(t, <-waiting, context.Canceled)

	three := w.start(3, t.TempDir())
	for _, n := range []*node{one, two, three} {
		await(t, n.gate.admitted, "the admission")
		require.True(t, n.identity.Peers.Admitted(), "it is on disk")
	}
	two.send(1, "now")
	require.Equal(t, "now", await(t, one.got, "a frame"))
	require.NoError(t, link.Send([]byte("still")))
	require.Equal(t, "still", await(t, one.got, "a frame"), "not the one that came too early")
	require.NoError(t, link.Close())
	require.NoError(t, snapshot.Close())
}

// reached is closed once a node's last dial to a peer has succeeded.
func reached(n *node, peer statemachine.NodeID) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ended := time.Now().Add(patience); time.Now().Before(ended); runtimeYield() {
			for _, s := range n.gate.Standings() {
				if s.Node == peer && s.Agreed {
					return
				}
			}
		}
	}()
	return done
}

func TestAnAdmittedDirectoryWaitsForNobody(t *testing.T) {
	w := newTown(t)
	dirs := w.born()
	one := w.start(1, dirs[0])
	require.True(t, one.gate.Admitted())
	two := w.start(2, dirs[1])
	one.send(2, "with node 3 away")
	require.Equal(t, "with node 3 away", await(t, two.got, "a frame"))
}

func TestAMemberWithAnotherDirectoryIsRefusedForEver(t *testing.T) {
	w := newTown(t)
	dirs := w.born()
	// Node 1 and 2 met the directory that node 3 lost; one of them is enough.
	w.start(1, dirs[0])
	three := w.start(3, t.TempDir())
	refused := await(t, three.failed, "the refusal")
	require.True(t, refused.ByPeer)
	require.Equal(t, CodeDirectory, refused.Code)
	require.EqualValues(t, 1, refused.Peer.Node)
	require.Contains(t, refused.Reason, "node 3 came with directory")
	require.False(t, three.gate.Admitted())
	three.stop()
	again := w.start(3, dirs[2])
	again.send(1, "with its own directory")
}

func TestAnOlderCopyOfADirectoryIsRefusedForEver(t *testing.T) {
	w := newTown(t)
	dirs := w.born()
	two := w.start(2, dirs[1])
	old := copyOf(t, dirs[0])
	for range 2 { // two more starts that node 2 meets
		one := w.start(1, dirs[0])
		one.send(2, "hello")
		one.stop()
	}
	one := w.start(1, old)
	one.dialInVain(2)
	refused := await(t, one.failed, "the refusal")
	require.Equal(t, CodeOlder, refused.Code)
	require.Contains(t, refused.Reason, "start 3 of node 1 was met, this is start 2")
	require.Empty(t, two.failed)
}

func TestTwoProcessesFromCopiesOfOneDirectory(t *testing.T) {
	w := newTown(t)
	dirs := w.born()
	w.start(2, dirs[1])
	copied := copyOf(t, dirs[0])
	one := w.start(1, dirs[0])
	one.send(2, "the first")
	one.stop()
	second := w.start(1, copied)
	second.dialInVain(2)
	require.Equal(t, CodeCopy, await(t, second.failed, "the refusal").Code)
}

// Node 2 met later starts of node 1 than node 3 did. The older copy that node 2
// refuses must not go on with node 3, which can't know.
func TestANodeThatWasRefusedForEverTakesNoPart(t *testing.T) {
	w := newTown(t)
	dirs := w.born()
	two, three := w.start(2, dirs[1]), w.open(3, dirs[2])
	defer three.stopIdentity()
	listener, err := three.outer.Listen(address(3), three)
	require.NoError(t, err)
	defer listener.Close()
	old := copyOf(t, dirs[0])
	for range 2 {
		one := w.open(1, dirs[0])
		one.send(2, "hello")
		require.Equal(t, "hello", await(t, two.got, "a frame"))
		one.stopIdentity()
	}
	one := w.open(1, old)
	defer one.stopIdentity()
	link, err := one.dial(3)
	require.NoError(t, err)
	require.NoError(t, link.Send([]byte("before")))
	require.Equal(t, "before", await(t, three.got, "a frame"))
	back, err := three.dial(1)
	require.ErrorIs(t, err, transport.ErrUnreachable, "node 1 does not listen yet")
	require.Nil(t, back)
	listener, err = one.outer.Listen(address(1), one)
	require.NoError(t, err)
	defer listener.Close()
	back, err = three.dial(1)
	require.NoError(t, err)
	defer back.Close()

	one.dialInVain(2)
	require.Equal(t, CodeOlder, await(t, one.failed, "the refusal").Code)
	require.ErrorIs(t, link.Send([]byte("a vote")), errFailed)
	require.NoError(t, link.Close())
	_, err = one.dial(3)
	require.ErrorIs(t, err, errFailed)
	for back.Send([]byte("a vote")) == nil { // until node 1 has broken the link
		runtimeYield()
	}
	require.Empty(t, one.got)
	_, err = three.dial(1)
	var refused *transport.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, CodeFailed, refused.Code)
	require.Empty(t, three.failed, "that is not for ever")
}

// The name of node 2 leads to node 1 itself, as a stale name service may say.
func TestANodeThatReachesItselfGoesOn(t *testing.T) {
	w := newTown(t)
	n := w.open(1, w.born()[0])
	defer n.stopIdentity()
	n.gate.nodeAt = map[string]statemachine.NodeID{"name-of-2:1": 2, address(1): 1, address(3): 3}
	listener, err := n.outer.Listen("name-of-2:1", n)
	require.NoError(t, err)
	defer listener.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err = n.outer.Dial(ctx, address(1), "name-of-2:1", transport.Messages)
	var refused *transport.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, CodeAddress, refused.Code)
	require.Contains(t, refused.Reason, "node 1 has reached itself")
	require.Empty(t, n.failed)
}

// Node 3 lost its directory, and met a wrong one of node 1 before node 2 could
// tell. It has not the memory to stop node 1.
func TestAMemberThatLostItsDirectoryStopsNobody(t *testing.T) {
	w := newTown(t)
	dirs := w.born()
	lost := w.start(3, t.TempDir())
	wrong := w.start(1, t.TempDir())
	await(t, reached(wrong, 3), "node 1 to reach node 3")
	wrong.stop()
	one := w.start(1, dirs[0])
	_, err := one.dial(3)
	var refused *transport.RefusedError
	require.ErrorAs(t, err, &refused)
	require.True(t, refused.ByPeer)
	require.Equal(t, CodeDirectory, refused.Code)
	require.Empty(t, one.failed)
	require.Empty(t, lost.failed, "two that refuse each other: neither can tell who is right")
	w.start(2, dirs[1])
	refused = await(t, lost.failed, "the refusal of node 3")
	require.Equal(t, CodeDirectory, refused.Code)
	require.EqualValues(t, 2, refused.Peer.Node)
}

func TestStandingsFollowAPeerThatNothingIsSentTo(t *testing.T) {
	w := newTown(t)
	dirs := w.born()
	one, two := w.start(1, dirs[0]), w.start(2, dirs[1])
	await(t, reached(one, 2), "node 1 to reach node 2")
	two.stop()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for one.gate.Standings()[0].Agreed {
			runtimeYield()
		}
	}()
	await(t, gone, "node 1 to see that node 2 has gone")
	require.ErrorIs(t, one.gate.Standings()[0].Problem, transport.ErrUnreachable)
	w.start(2, dirs[1])
	await(t, reached(one, 2), "node 1 to reach node 2 again")
}

func TestFramesOfAnEarlierStartBreakTheirLink(t *testing.T) {
	w := newTown(t)
	dirs := w.born()
	two := w.start(2, dirs[1])
	running := copyOf(t, dirs[0])
	one := w.start(1, dirs[0])
	link, err := one.dial(2)
	require.NoError(t, err)
	require.NoError(t, link.Send([]byte("in time")))
	require.Equal(t, "in time", await(t, two.got, "a frame"))
	one.stop()
	// The copy is started twice, so that its second start is the newest.
	w.open(1, running).stopIdentity()
	w.start(1, running).send(2, "newer")
	require.Equal(t, "newer", await(t, two.got, "a frame"))
	for link.Send([]byte("too late")) == nil {
		runtimeYield()
	}
	require.Empty(t, two.got)
	require.NoError(t, link.Close())
}

func (n *node) stopIdentity() { require.NoError(n.town.t, n.identity.Close()) }
