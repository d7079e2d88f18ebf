package member

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Members get no ports from the range out of which the system takes those for
// outgoing connections: one could be gone before its member listens.
const (
	portMin  = 10_000
	portMax  = 30_000
	portsTry = 100
)

// Ports are some ports of the loopback interface in a row. A listener on the one
// before them keeps off others that take their ports in this way.
type Ports struct {
	guard net.Listener
	first int
}

// TakePorts finds ports that nobody else listens on. Nobody does until the
// members do.
func TakePorts(count int) (*Ports, error) {
	var last error
	for range portsTry {
		first := portMin + (count+1)*rand.IntN((portMax-portMin)/(count+1))
		guard, err := net.Listen("tcp", loopback(first))
		if err != nil {
			last = err
			continue
		}
		if last = areFree(first+1, count); last == nil {
			return &Ports{guard, first + 1}, nil
		}
		_ = guard.Close()
	}
	return nil, fmt.Errorf("no free ports after %d tries: %w", portsTry, last)
}

func areFree(first, count int) error {
	for port := first; port < first+count; port++ {
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			return err
		}
		_ = listener.Close()
	}
	return nil
}

// Port returns the number of a port, from 0.
func (p *Ports) Port(i int) int { return p.first + i }

// Address returns a port with its host.
func (p *Ports) Address(i int) string { return loopback(p.Port(i)) }

// Free lets others have the ports.
func (p *Ports) Free() { _ = p.guard.Close() }

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
