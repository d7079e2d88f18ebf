package coordinator_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/internal/porttest"
	"github.com/palisade-go/palisade/transport"
)

// A cluster over TCP is opened and stopped again and again in one process, with
// the same directories and ports, in turn by Close and by Shutdown. No
// goroutine, file or port of it stays.
func TestNothingIsLeftAfterCloseAndShutdown(t *testing.T) {
	const rounds = 20
	dir := t.TempDir()
	peers := make(map[coordinator.NodeID]string)
	for i, address := range porttest.Take(t, 3) {
		peers[coordinator.NodeID(i+1)] = address
	}
	others := goleak.IgnoreCurrent()
	files := openFiles(t)
	for round := range rounds {
		var nodes []*coordinator.Coordinator
		for id, address := range peers {
			c, err := coordinator.Open(patient(t), coordinator.Config{
				Dir: filepath.Join(dir, fmt.Sprintf("node-%d", id)), Cluster: "leaving", NodeID: id, Peers: peers, TLS: transport.Insecure,
				Listen: address, Groups: 2, ElectionTimeout: locktest.ElectionTimeout, TTL: long,
			})
			require.NoError(t, err, "round %d", round)
			nodes = append(nodes, c)
		}
		var leases []*coordinator.Lease
		for _, c := range nodes {
			lease, err := c.Acquire(patient(t), fmt.Sprintf("key of node %d", c.Status().NodeID))
			require.NoError(t, err, "round %d", round)
			leases = append(leases, lease)
		}
		require.Greater(t, len(openFiles(t)), len(files), "while nodes are open")
		stop := (*coordinator.Coordinator).Close
		if round%2 == 1 {
			for _, lease := range leases {
				require.NoError(t, lease.Release(patient(t)), "round %d", round)
			}
			stop = func(c *coordinator.Coordinator) error { return c.Shutdown(patient(t)) }
		}
		stopAll(t, nodes, stop)
		require.NoError(t, goleak.Find(others), "goroutines after round %d", round)
		requireFiles(t, files, "round %d", round)
		for id, address := range peers {
			l, err := net.Listen("tcp", address)
			require.NoError(t, err, "the port of node %d after round %d", id, round)
			require.NoError(t, l.Close())
		}
	}
}

// stopAll stops all nodes at the same time, so that none has to wait for an
// answer of one that has gone.
func stopAll(t *testing.T, nodes []*coordinator.Coordinator, stop func(*coordinator.Coordinator) error) {
	parallel(len(nodes), func(i int) {
		if err := stop(nodes[i]); err != nil {
			t.Errorf("stop node %d: %v", nodes[i].Status().NodeID, err)
		}
	})
}

// requireFiles checks that the process has the same files open as before. A
// socket may be closed by the garbage collector: the engine's listener drops a
// connection that it accepts while it stops, and closes it no other way.
func requireFiles(t *testing.T, before []string, when ...any) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	ended := patient(t).Done()
	for {
		after := openFiles(t)
		if slices.Equal(before, after) {
			return
		}
		require.Equal(t, withoutSockets(before), withoutSockets(after), when...)
		runtime.GC()
		select {
		case <-again.C:
		case <-ended:
			require.Equal(t, before, after, when...)
		}
	}
}

func withoutSockets(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(name string) bool { return strings.HasPrefix(name, "socket:") })
}

// openFiles returns what the process has open, by what the system calls it.
func openFiles(t *testing.T) []string {
	const dir = "/dev/fd"
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var open []string
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		switch {
		case err == nil:
			open = append(open, target)
		case !errors.Is(err, fs.ErrNotExist): // it was the directory just read
			open = append(open, e.Name()) // this system has no names for them
		}
	}
	slices.Sort(open)
	return open
}
