// Package porttest finds ports for the nodes of a test.
package porttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// A node gets no port from the range out of which the system takes those for
// outgoing connections: one could be gone before it listens, or while it is down.
const (
	portMin  = 10_000
	portMax  = 30_000
	portsTry = 100
)

// Take returns count addresses of the loopback interface that nobody listens on,
// with ports in a row. Nobody else who takes his in this way gets them before the
// test is over, also while nobody listens there.
func Take(t testing.TB, count int) []string {
	t.Helper()
	var last error
	for range portsTry {
		first := portMin + (count+1)*rand.IntN((portMax-portMin)/(count+1))
		// The port before the others stands for all of them.
		guard, err := net.Listen("tcp", loopback(first))
		if err != nil {
			last = err
			continue
		}
		addresses, err := free(first+1, count)
		if err == nil {
			t.Cleanup(func() { _ = guard.Close() })
			return addresses
		}
		last = err
		_ = guard.Close()
	}
	require.NoError(t, last, "no free ports after %d tries", portsTry)
	return nil
}

// free returns the addresses of ports in a row if nobody listens on them.
func free(first, count int) (addresses []string, err error) {
	for port := first; port < first+count; port++ {
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			return nil, err
		}
		_ = listener.Close()
		addresses = append(addresses, loopback(port))
	}
	return addresses, nil
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
