package transport

import (
	"fmt"
	"log/slog"
	"net"
)

// Peer is the other side of a connection, as Admit and Receive see it. Over TLS
// the Node of its Hello has been compared with its certificate; all else, and
// over an Insecure network and in memory everything, is what the other side
// says. From a side of a Memory that never joined the Hello is zero.
type Peer struct {
	Hello
	// Address is the address that was dialled; when Accepted, what the dialler
	// calls itself, empty until its hello has come.
	Address string
	// Remote is where the connection comes from or goes to, nil in memory.
	Remote net.Addr
	// Accepted says that the other side dialled.
	Accepted bool
	// Version is the greatest protocol version that both sides speak, zero
	// until this side has found it.
	Version uint16
}

// String names the peer by what is known of it.
func (p Peer) String() string {
	who := "a node"
	if p.Node != 0 {
		who = fmt.Sprintf("node %d", p.Node)
	}
	switch {
	case p.Accepted && p.Remote != nil && p.Address != "":
		return fmt.Sprintf("%s from %s, calling itself %q", who, p.Remote, p.Address)
	case p.Address != "":
		return fmt.Sprintf("%s at %q", who, p.Address)
	case p.Remote != nil:
		return fmt.Sprintf("%s from %s", who, p.Remote)
	}
	return who
}

// LogValue implements slog.LogValuer: a log gets what String returns, as a
// stranger must not fill it with a long hello.
func (p Peer) LogValue() slog.Value { return slog.StringValue(p.String()) }
