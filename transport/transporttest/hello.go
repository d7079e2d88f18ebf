package transporttest

import "github.com/palisade-go/palisade/transport"

// Hello is what a node under test says of itself: all nodes are of one cluster
// and speak protocol version 1, and each is in the first start of a directory
// of its own.
func Hello(node uint64) transport.Hello {
	return transport.Hello{
		Cluster: [32]byte{1, 2, 3}, Node: node,
		Directory: [16]byte{1, byte(node)}, Incarnation: 1, Start: [16]byte{2, byte(node)},
		Protocol: transport.Versions{Lowest: 1, Highest: 1},
		Born:     "under test",
	}
}
