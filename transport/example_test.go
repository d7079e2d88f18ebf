package transport_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/palisade-go/palisade/transport"
)

// printer is a handler that prints what arrives.
type printer struct{ done chan struct{} }

func (p printer) Receive(from transport.Peer, kind transport.Kind, frame []byte) error {
	fmt.Printf("from %s (%s): %s\n", from.Address, kind, frame)
	close(p.done)
	return nil
}

// A black hole swallows a frame without an error; after healing the same link
// goes on.
func ExampleMemory() {
	network := transport.NewMemory(1)
	defer network.Close()
	p := printer{done: make(chan struct{})}
	if _, err := network.Listen("b", p); err != nil {
		fmt.Println(err)
		return
	}
	link, err := network.Dial(context.Background(), "a", "b", transport.Messages)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer link.Close()

	network.BlackHole("a", "b")
	fmt.Println(link.Send([]byte("lost")))
	network.Heal("a", "b")
	fmt.Println(link.Send([]byte("hello")))
	<-p.done
	stats := network.Stats("a", "b")
	fmt.Println("sent", stats.Sent, "delivered", stats.Delivered, "dropped", stats.Dropped)
	// Unordered output:
	// <nil>
	// <nil>
	// from a (messages): hello
	// sent 2 delivered 1 dropped 1
}

// Two nodes over TCP. In production TLS names three files; here it says that
// plaintext is meant.
func ExampleTCP() {
	node := func(id uint64, admit func(transport.Peer) error) *transport.TCP {
		network, err := transport.NewTCP(transport.TCPConfig{
			Member: transport.Member{
				Self: transport.Hello{
					Cluster: [32]byte{1}, Node: id, Directory: [16]byte{byte(id)},
					Incarnation: 1, Start: [16]byte{byte(id), 1},
					Protocol: transport.Versions{Lowest: 1, Highest: 1},
				},
				Admit: admit,
			},
			TLS: transport.Insecure,
		})
		if err != nil {
			panic(err) // a program would hand it on
		}
		return network
	}
	members := func(peer transport.Peer) error {
		if peer.Node > 2 {
			return fmt.Errorf("node %d is not a member", peer.Node)
		}
		return nil
	}
	a, b, stranger := node(1, members), node(2, members), node(3, nil)
	defer a.Close()
	defer b.Close()
	defer stranger.Close()

	p := printer{done: make(chan struct{})}
	listener, err := b.Listen("127.0.0.1:0", p)
	if err != nil {
		fmt.Println(err)
		return
	}
	addr := listener.(interface{ Addr() net.Addr }).Addr().String()
	link, err := a.Dial(context.Background(), "node-1:7400", addr, transport.Messages)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer link.Close()
	fmt.Println(link.Send([]byte("hello")))
	<-p.done

	_, err = stranger.Dial(context.Background(), "node-3:7400", addr, transport.Messages)
	var refused *transport.RefusedError
	if errors.As(err, &refused) {
		fmt.Printf("refused by node %d: %s\n", refused.Peer.Node, refused.Reason)
	}
	// Unordered output:
	// <nil>
	// from node-1:7400 (messages): hello
	// refused by node 2: node 3 is not a member
}
