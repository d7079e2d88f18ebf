package main

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// The nodes get no ports from the range out of which the system takes those for
// outgoing connections: one could be gone before its node listens.
const (
	portMin  = 10_000
	portMax  = 30_000
	portsTry = 100
)

// portBlock is some ports in a row. The first one keeps others that take
// their ports in this way off the rest, before the nodes listen there.
type portBlock struct {
	first     net.Listener
	addresses []string // of the rest
}

// takePorts takes ports of the loopback interface that nobody else listens on.
// Nobody listens on them until the nodes do.
func takePorts(count int) (*portBlock, error) {
	var last error
	for range portsTry {
		first := portMin + (count+1)*rand.IntN((portMax-portMin)/(count+1))
		block := &portBlock{}
		if block.first, last = net.Listen("tcp", loopback(first)); last != nil {
			continue
		}
		if last = block.find(count); last == nil {
			return block, nil
		}
		_ = block.first.Close()
	}
	return nil, fmt.Errorf("no free ports after %d tries: %w", portsTry, last)
}

// find looks whether the ports after the first are free.
func (b *portBlock) find(count int) error {
	first := b.first.Addr().(*net.TCPAddr).Port
	for port := first + 1; port <= first+count; port++ {
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			return err
		}
		_ = listener.Close()
		b.addresses = append(b.addresses, loopback(port))
	}
	return nil
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
