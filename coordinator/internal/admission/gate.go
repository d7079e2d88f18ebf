package admission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/identity"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/transport"
)

// Config is what a Gate needs. All of it is required.
type Config struct {
	// Self is what this node says of itself.
	Self transport.Hello
	// Addresses are where the members are reached, this node too. No two are
	// the same.
	Addresses map[statemachine.NodeID]string
	// Peers is where those met are noted.
	Peers *identity.Peers
	// Retry is the time after which a peer is greeted again that did not say
	// yes, and Again after which one is that did.
	Retry, Again time.Duration
	// Explain says for people why one of two nodes refuses the other.
	Explain func(*transport.RefusedError) error
	// Logger is told when what a peer says changes, and of peers that are not
	// reached for long.
	Logger *slog.Logger
	// Fail is called when a peer has refused this node for ever, at most once.
	Fail func(*transport.RefusedError)
}

// Gate is the admission of one node. It is safe for concurrent use.
type Gate struct {
	cfg    Config
	nodeAt map[string]statemachine.NodeID // by address

	admitted chan struct{} // closed when frames may pass; by New or open
	failed   chan struct{} // closed when this node takes no part any more; by Stop
	stop     sync.Once

	mu    sync.Mutex
	peers map[statemachine.NodeID]*peer // all but this node
}

// peer is how this node stands with another.
type peer struct {
	agreed  bool      // it said yes to the last dial
	problem error     // of the last dial; nil if agreed, or before the first
	since   time.Time // when dials began to fail; zero if they don't
	told    bool      // that they do was logged
	calls   string    // what it called its own address when it last dialled
	address string    // what Addresses has for it
}

// because adds to why a peer was not reached, if it was not, what may be behind
// it: it has another address for itself than this node has. Gate.mu is held.
func (p *peer) because(err error) error {
	if err == nil || p.calls == "" || p.calls == p.address {
		return err
	}
	return fmt.Errorf("%w (it calls its own address %s)", err, p.calls)
}

// New returns the gate of a node. An admitted directory's is open.
func New(cfg Config) *Gate {
	g := &Gate{
		cfg: cfg, nodeAt: map[string]statemachine.NodeID{}, admitted: make(chan struct{}), failed: make(chan struct{}),
		peers: map[statemachine.NodeID]*peer{},
	}
	for node, address := range cfg.Addresses {
		g.nodeAt[address] = node
		if uint64(node) != cfg.Self.Node {
			g.peers[node] = &peer{address: address}
		}
	}
	if cfg.Peers.Admitted() {
		close(g.admitted)
	}
	return g
}

// Member returns this node for a transport.
func (g *Gate) Member() transport.Member {
	return transport.Member{Self: g.cfg.Self, Admit: g.admit}
}

// Admitted reports whether frames may pass.
func (g *Gate) Admitted() bool { return isClosed(g.admitted) }

// hasFailed reports whether this node takes no part any more, because a peer
// has refused it for ever or it has stopped by itself: nothing is dialled,
// sent, received or admitted.
func (g *Gate) hasFailed() bool { return isClosed(g.failed) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// admit judges a peer whose certificate and cluster are in order. It notes
// what it met before it says yes.
func (g *Gate) admit(p transport.Peer) error {
	node := statemachine.NodeID(p.Node)
	if expected, known := g.nodeAt[p.Address]; !p.Accepted && known && expected != node {
		return refuse(CodeAddress, "at %s, the address of node %d, there is node %d", p.Address, expected, node)
	}
	if g.peers[node] == nil {
		if p.Node == g.cfg.Self.Node {
			return g.sameNode(p)
		}
		return refuse(CodeStranger, "node %d is not a member", node)
	}
	if g.hasFailed() {
		return refuse(CodeFailed, "node %d takes no part: a peer has refused it for ever", g.cfg.Self.Node)
	}
	if p.Accepted {
		g.mu.Lock()
		g.peers[node].calls = p.Address
		g.mu.Unlock()
	}
	met := acquaintance(p)
	err := g.cfg.Peers.Meet(node, met, func(before identity.Acquaintance, known bool) error {
		if !known {
			return nil
		}
		return follows(node, before, met)
	})
	var refused *transport.RefusedError
	switch {
	case errors.Is(err, identity.ErrClosed):
		return refuse(CodeFailed, "node %d is closing", g.cfg.Self.Node)
	case err != nil && !errors.As(err, &refused):
		g.cfg.Logger.Error("whom this node met can't be written down", "peer", node, "err", err)
		return refuse(CodeStorage, "this node can't write down whom it met: %w", err)
	}
	return err
}

// sameNode refuses one that says it is this node: this very process, reached
// under a peer's address, or another.
func (g *Gate) sameNode(p transport.Peer) error {
	self := g.cfg.Self
	switch {
	case p.Start == self.Start:
		return refuse(CodeAddress, "node %d has reached itself", self.Node)
	case p.Directory != self.Directory:
		return refuse(CodeAddress, "here is node %d already, with another directory", self.Node)
	}
	return refuse(CodeCopy, "here is node %d already: two run from copies of one directory", self.Node)
}

// follows says whether a start of a node may come after the newest that was
// met.
func follows(node statemachine.NodeID, before, now identity.Acquaintance) error {
	switch {
	case now.Directory != before.Directory:
		return refuse(CodeDirectory, "node %d came with directory %s before, now with %s", node, before.Directory, now.Directory)
	case now.Incarnation < before.Incarnation:
		return refuse(CodeOlder, "start %d of node %d was met, this is start %d: it runs from an older copy of its directory",
			before.Incarnation, node, now.Incarnation)
	case now.Incarnation == before.Incarnation && now.Start != before.Start:
		return refuse(CodeCopy, "start %d of node %d was met in another process: two run from copies of one directory",
			before.Incarnation, node)
	}
	return nil
}

func refuse(code transport.Code, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &transport.RefusedError{Code: code, Reason: err.Error(), Err: err}
}

// current returns an error unless a frame comes from the newest start of a
// peer.
func (g *Gate) current(from transport.Peer) error {
	met, known := g.cfg.Peers.Met(statemachine.NodeID(from.Node))
	if !known || met.Start != from.Start || met.Directory != from.Directory {
		return fmt.Errorf("admission: %s has been followed by a newer start", from)
	}
	return nil
}

// dialled notes what came of a dial, and logs it if it is news. One that its
// caller gave up tells nothing.
func (g *Gate) dialled(address string, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	g.mu.Lock()
	p := g.peers[g.nodeAt[address]]
	if p == nil {
		g.mu.Unlock()
		return
	}
	before := *p
	p.agreed, p.problem = err == nil, err
	switch {
	case err == nil:
		p.since, p.told = time.Time{}, false
	case before.problem == nil:
		p.since = time.Now()
	}
	var was, refused *transport.RefusedError
	wasRefused, isRefused := errors.As(before.problem, &was), errors.As(err, &refused)
	silent := err != nil && !isRefused && !p.told && time.Since(p.since) >= silentMax
	p.told = p.told || silent || isRefused
	reason := p.because(err)
	g.mu.Unlock()

	log := g.cfg.Logger.With("peer", g.nodeAt[address], "address", address)
	switch {
	case isRefused && !(wasRefused && was.Code == refused.Code && was.ByPeer == refused.ByPeer):
		log.Warn("this node and a peer do not talk to one another", "err", g.cfg.Explain(refused))
	case silent:
		log.Warn("a peer is not reached", "err", reason)
	case err == nil && before.told:
		log.Info("this node and a peer talk to one another again")
	}
	if isRefused && refused.ByPeer && final(refused.Code) && g.counts(refused.Peer) && g.Stop() {
		g.cfg.Fail(refused)
	}
}

// Stop ends this node's part, for ever: no frame passes from now on. It reports
// whether it was the first. Links end at their next frame.
func (g *Gate) Stop() (first bool) {
	g.stop.Do(func() {
		close(g.failed)
		first = true
	})
	return first
}

// silentMax is for how long a peer may not be reached before that is logged: a
// restart takes less, as a rule.
const silentMax = 10 * time.Second

// counts reports whether a peer's refusal for ever counts. One that is not who
// was dialled, that lost its directory, or that runs from an older copy lacks
// the memory for it: it must not stop a node that is in order.
func (g *Gate) counts(p transport.Peer) bool {
	node := statemachine.NodeID(p.Node)
	if node != g.nodeAt[p.Address] {
		return false
	}
	before, known := g.cfg.Peers.Met(node)
	return !known || follows(node, before, acquaintance(p)) == nil
}

// acquaintance is what is remembered of a peer.
func acquaintance(p transport.Peer) identity.Acquaintance {
	return identity.Acquaintance{Directory: p.Directory, Incarnation: statemachine.Incarnation(p.Incarnation), Start: p.Start}
}

// Standing is how this node stands with a peer.
type Standing struct {
	Node statemachine.NodeID
	// Agreed: the last dial to it succeeded.
	Agreed bool
	// Problem is what the last dial met; nil if it succeeded or there was none
	// yet.
	Problem error
}

// Standings returns how this node stands with each peer, in the order of
// their ids.
func (g *Gate) Standings() []Standing {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]Standing, 0, len(g.peers))
	for _, node := range slices.Sorted(maps.Keys(g.peers)) {
		p := g.peers[node]
		all = append(all, Standing{node, p.agreed, p.because(p.problem)})
	}
	return all
}
