package admission

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// runtimeYield lets others go on, in loops that wait for what has no signal.
func runtimeYield() { runtime.Gosched() }

// copyOf copies a directory that is not in use.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

func TestAdmit(t *testing.T) {
	w := newTown(t)
	n := w.open(1, t.TempDir())
	defer n.stopIdentity()
	peer := func(node uint64, change func(*transport.Peer)) transport.Peer {
		p := transport.Peer{Accepted: true, Hello: transport.Hello{
			Node: node, Directory: [16]byte{byte(node)}, Incarnation: 5, Start: [16]byte{9},
		}}
		change(&p)
		return p
	}
	same := func(*transport.Peer) {}
	for _, c := range []struct {
		name string
		peer transport.Peer
		code transport.Code // 0: yes
		says string
	}{
		{"a peer that was never met", peer(2, same), 0, ""},
		{"the same again", peer(2, same), 0, ""},
		{"its next start", peer(2, func(p *transport.Peer) { p.Incarnation, p.Start = 6, [16]byte{10} }), 0, ""},
		{"its start before", peer(2, same), CodeOlder, "start 6 of node 2 was met, this is start 5"},
		{"another process of the same start", peer(2, func(p *transport.Peer) { p.Incarnation = 6 }), CodeCopy, "two run from copies"},
		{"another directory", peer(2, func(p *transport.Peer) { p.Directory, p.Incarnation = [16]byte{77}, 1 }), CodeDirectory,
			"node 2 came with directory 02000000000000000000000000000000 before, now with 4d000000000000000000000000000000"},
		{"a node that is not a member", peer(9, same), CodeStranger, "node 9 is not a member"},
		{"one that says it is this node", peer(1, same), CodeAddress, "here is node 1 already, with another directory"},
		{"one from a copy of this directory", peer(1, func(p *transport.Peer) { p.Directory = n.identity.Directory }), CodeCopy,
			"here is node 1 already: two run from copies of one directory"},
		{"another node at the address of node 3", peer(2, func(p *transport.Peer) {
			p.Incarnation, p.Start, p.Accepted, p.Address = 6, [16]byte{10}, false, address(3)
		}), CodeAddress, "at node-3:1, the address of node 3, there is node 2"},
		{"itself at the address of node 3", peer(1, func(p *transport.Peer) { p.Accepted, p.Address = false, address(3) }), CodeAddress,
			"there is node 1"},
		{"the node that was dialled", peer(3, func(p *transport.Peer) { p.Accepted, p.Address = false, address(3) }), 0, ""},
		{"one that dials from an address not in Peers", peer(3, func(p *transport.Peer) { p.Address = "moved:1" }), 0, ""},
	} {
		err := n.gate.admit(c.peer)
		if c.code == 0 {
			require.NoError(t, err, c.name)
			continue
		}
		var refused *transport.RefusedError
		require.ErrorAs(t, err, &refused, c.name)
		require.Equal(t, c.code, refused.Code, c.name)
		require.Contains(t, refused.Reason, c.says, c.name)
	}
	met, _ := n.identity.Peers.Met(2)
	require.Equal(t, statemachine.Incarnation(6), met.Incarnation, "who was refused changed nothing")
}

// A yes that is not on disk could be forgotten, and given to another directory.
func TestNobodyIsAdmittedWhoCanNotBeWrittenDown(t *testing.T) {
	w := newTown(t)
	dir := t.TempDir()
	n := w.open(1, dir)
	defer n.stopIdentity()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "peers.json.new"), 0o700)) // every write fails
	err := n.gate.admit(transport.Peer{Hello: transport.Hello{Node: 2, Incarnation: 1, Start: [16]byte{1}}})
	var refused *transport.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, CodeStorage, refused.Code)
	_, known := n.identity.Peers.Met(2)
	require.False(t, known)
	require.Contains(t, n.log.String(), "can't be written down")
}

func TestOnlyRefusalsForEverStopANode(t *testing.T) {
	for code, forEver := range map[transport.Code]bool{
		CodeDirectory: true, CodeOlder: true, CodeCopy: true,
		CodeAddress: false, CodeStranger: false, CodeStorage: false, CodeFailed: false, transport.CodeCluster: false,
		transport.CodeCertificate: false, transport.CodeIdentity: false, transport.CodeProtocol: false,
		transport.CodeHandshake: false, transport.CodeLinks: false, transport.CodeAdmit: false,
	} {
		for _, byPeer := range []bool{true, false} {
			n := newTown(t).open(1, t.TempDir())
			for range 2 {
				peer := transport.Peer{Hello: transport.Hello{Node: 2}, Address: address(2)}
				n.gate.dialled(address(2), &transport.RefusedError{Peer: peer, Code: code, ByPeer: byPeer})
			}
			n.stopIdentity()
			require.Equal(t, forEver && byPeer, len(n.failed) == 1, "%v, by the peer: %v", code, byPeer)
			require.LessOrEqual(t, len(n.failed), 1, "at most once")
		}
	}
}

// At the address of node 2 there is another node, or a node 2 that is not the
// one that was met.
func TestARefusalByWhoIsNotMeantStopsNobody(t *testing.T) {
	n := newTown(t).open(1, t.TempDir())
	defer n.stopIdentity()
	met := transport.Hello{Node: 2, Directory: [16]byte{2}, Incarnation: 5, Start: [16]byte{5}}
	require.NoError(t, n.gate.admit(transport.Peer{Hello: met, Accepted: true}))
	refuse := func(change func(*transport.Peer)) {
		peer := transport.Peer{Hello: met, Address: address(2)}
		change(&peer)
		n.gate.dialled(address(2), &transport.RefusedError{Peer: peer, Code: CodeDirectory, ByPeer: true})
	}
	refuse(func(p *transport.Peer) { p.Node = 3 })
	refuse(func(p *transport.Peer) { p.Hello = transport.Hello{} })
	refuse(func(p *transport.Peer) { p.Directory = [16]byte{77} })
	refuse(func(p *transport.Peer) { p.Incarnation = 4 })
	refuse(func(p *transport.Peer) { p.Start = [16]byte{77} })
	require.Empty(t, n.failed)
	refuse(func(*transport.Peer) {})
	require.Len(t, n.failed, 1)
}

func TestStandingsAreThoseOfTheLastDial(t *testing.T) {
	n := newTown(t).open(1, t.TempDir())
	defer n.stopIdentity()
	require.Equal(t, []Standing{{Node: 2}, {Node: 3}}, n.gate.Standings())
	gone := errors.New("gone")
	n.gate.dialled(address(3), gone)
	n.gate.dialled(address(2), nil)
	n.gate.dialled("elsewhere:1", gone)
	require.Equal(t, []Standing{{Node: 2, Agreed: true}, {Node: 3, Problem: gone}}, n.gate.Standings())
	refused := &transport.RefusedError{Code: CodeAddress, Reason: "wrong address"}
	n.gate.dialled(address(2), refused)
	n.gate.dialled(address(2), refused)
	require.Equal(t, Standing{Node: 2, Problem: refused}, n.gate.Standings()[0])
	n.gate.dialled(address(2), nil)
	require.Equal(t, Standing{Node: 2, Agreed: true}, n.gate.Standings()[0])
	log := n.log.String()
	require.Equal(t, 1, count(log, "do not talk to one another"), "%s", log)
	require.Contains(t, log, "in other words: wrong address")
	require.Equal(t, 1, count(log, "talk to one another again"), "%s", log)
}

// Whoever is started by hand on a wrong port is reached by nobody: the log has
// to say so, once, and what may be behind it.
func TestAPeerThatIsNotReachedForLongIsLogged(t *testing.T) {
	n := newTown(t).open(1, t.TempDir())
	defer n.stopIdentity()
	require.NoError(t, n.gate.admit(transport.Peer{Accepted: true, Address: "elsewhere:7", Hello: transport.Hello{
		Node: 2, Directory: [16]byte{2}, Incarnation: 1, Start: [16]byte{2},
	}}))
	gone := errors.New("connection refused")
	n.gate.dialled(address(2), gone)
	n.gate.dialled(address(2), gone)
	require.NotContains(t, n.log.String(), "not reached", "it may be starting")
	require.Equal(t, 10*time.Second, silentMax)
	n.gate.peers[2].since = time.Now().Add(-silentMax)
	n.gate.dialled(address(2), gone)
	n.gate.dialled(address(2), gone)
	log := n.log.String()
	require.Equal(t, 1, count(log, "a peer is not reached"), "%s", log)
	require.Contains(t, log, "connection refused (it calls its own address elsewhere:7)")
	require.ErrorIs(t, n.gate.Standings()[0].Problem, gone)
	require.ErrorContains(t, n.gate.Standings()[0].Problem, "elsewhere:7")
	n.gate.dialled(address(2), nil)
	require.Equal(t, 1, count(n.log.String(), "talk to one another again"))
}

// Only the race detector sees what this is about.
func TestAHelloMayComeWhileADialFails(t *testing.T) {
	n := newTown(t).open(1, t.TempDir())
	defer n.stopIdentity()
	gone := errors.New("connection refused")
	var coming sync.WaitGroup
	coming.Add(1)
	go func() {
		defer coming.Done()
		for range 100 {
			assert.NoError(t, n.gate.admit(transport.Peer{Accepted: true, Address: "elsewhere:7", Hello: transport.Hello{
				Node: 2, Directory: [16]byte{2}, Incarnation: 1, Start: [16]byte{2},
			}}))
		}
	}()
	for range 100 {
		n.gate.dialled(address(2), gone)
		n.gate.mu.Lock()
		n.gate.peers[2].since = time.Now().Add(-silentMax)
		n.gate.mu.Unlock()
		n.gate.dialled(address(2), gone)
		n.gate.dialled(address(2), nil)
	}
	coming.Wait()
}

// A dial that its caller gave up says nothing of the peer.
func TestADialThatWasGivenUpIsNoNews(t *testing.T) {
	n := newTown(t).open(1, t.TempDir())
	defer n.stopIdentity()
	n.gate.dialled(address(2), nil)
	n.gate.dialled(address(2), fmt.Errorf("dial: %w", context.Canceled))
	require.Equal(t, Standing{Node: 2, Agreed: true}, n.gate.Standings()[0])
	n.gate.dialled(address(2), context.DeadlineExceeded)
	require.Equal(t, Standing{Node: 2, Problem: context.DeadlineExceeded}, n.gate.Standings()[0])
}

func count(text, part string) int { return strings.Count(text, part) }
