package transport_test

import (
	"context"
	"fmt"

	"github.com/palisade-go/palisade/transport"
)

// printer is a handler that prints what arrives.
type printer struct{ done chan struct{} }

func (p printer) Receive(from string, kind transport.Kind, frame []byte) error {
	fmt.Printf("from %s (%s): %s\n", from, kind, frame)
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
