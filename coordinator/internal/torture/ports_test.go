package torture

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// The nodes get no ports from the range out of which the system takes those for
// outgoing connections: one could be gone before its node listens again.
const (
	portMin  = 10_000
	portMax  = 30_000
	portsTry = 100
)

// portBlock is some ports in a row. The first one keeps others that take their
// ports in this way off the rest, also while a node is dead.
type portBlock struct {
	first     net.Listener
	addresses []string // of the rest
}

func takePorts(count int) (*portBlock, error) {
	var last error
	for range portsTry {
		first := portMin + (count+1)*rand.IntN((portMax-portMin)/(count+1))
		b := &portBlock{}
		if b.first, last = net.Listen("tcp", loopback(first)); last != nil {
			continue
		}
		if last = b.find(first, count); last == nil {
			return b, nil
		}
		_ = b.first.Close()
	}
	return nil, fmt.Errorf("no free ports after %d tries: %w", portsTry, last)
}

// find looks whether the ports after the first are free.
func (b *portBlock) find(first, count int) error {
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
