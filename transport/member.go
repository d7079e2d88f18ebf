package transport

import "fmt"

// Member is a node as the others of a network meet it: what it says of itself,
// and whom it takes.
type Member struct {
	// Self is what this node says of itself. All of it but Born is required.
	Self Hello
	// Admit judges the other side of a connection once it is known, before
	// any frame passes, on both sides of it; the dialler's is asked when the
	// acceptor has said yes. An error refuses it; its text and code (see
	// RefusedError) reach the other side. It is called concurrently, with no
	// lock of the network held, and holds up one connection alone. How many
	// nodes there may be is for Admit to say. Default: everyone is admitted
	// that the hellos, and over TLS the certificates, let through.
	Admit func(Peer) error
	// Refusals, if set, is called on the accepting side with each refusal, by
	// this side or by the dialler, and with each connection of a stranger
	// (CodeHandshake); the dialling side gets its refusals from Dial. It is
	// called concurrently and must not block.
	Refusals func(*RefusedError)
}

// withDefaults returns the member with every default filled in.
func (m Member) withDefaults() Member {
	if m.Admit == nil {
		m.Admit = func(Peer) error { return nil }
	}
	if m.Refusals == nil {
		m.Refusals = func(*RefusedError) {}
	}
	return m
}

// check returns what is wrong with a member.
func (m Member) check() error {
	if err := m.Self.check(); err != nil {
		return fmt.Errorf("field Self: %w", err)
	}
	return nil
}

// judge returns why this member, with its defaults, refuses a peer whose hello
// is known; nil if it does not. It fills in the peer's Version, and asks Admit
// last.
func (m Member) judge(peer *Peer) *RefusedError {
	if peer.Cluster != m.Self.Cluster {
		return refuse(*peer, CodeCluster, "node %d is of the cluster with hash %x, node %d of that with hash %x",
			peer.Node, peer.Cluster[:8], m.Self.Node, m.Self.Cluster[:8])
	}
	version, ok := m.Self.Protocol.agree(peer.Protocol)
	if !ok {
		return refuse(*peer, CodeProtocol, "node %d speaks protocol versions %d to %d, node %d speaks %d to %d",
			peer.Node, peer.Protocol.Lowest, peer.Protocol.Highest, m.Self.Node, m.Self.Protocol.Lowest, m.Self.Protocol.Highest)
	}
	peer.Version = version
	if err := m.Admit(*peer); err != nil {
		return notAdmitted(*peer, err)
	}
	return nil
}
