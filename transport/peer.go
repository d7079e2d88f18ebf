package transport

import (
	"fmt"
	"net"
)

// Peer is the other side of a connection, as Admit sees it. Over TLS its Hello
// has been compared with its certificate; over an Insecure network it is what
// the other side says.
type Peer struct {
	Hello
	// Address is the address that was dialled, empty when Accepted.
	Address string
	// Remote is where the connection comes from or goes to.
	Remote net.Addr
	// Accepted says that the other side dialled.
	Accepted bool
	// Version is the greatest protocol version that both sides speak.
	Version uint16
}

// String names the peer by what is known of it.
func (p Peer) String() string {
	who := "a node"
	if p.Node != 0 {
		who = fmt.Sprintf("node %d", p.Node)
	}
	switch {
	case p.Address != "":
		who = fmt.Sprintf("%s at %q", who, p.Address)
	case p.Remote != nil:
		who = fmt.Sprintf("%s from %s", who, p.Remote)
	}
	return who
}
