package main

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPorts(t *testing.T) {
	t.Run("AreFreeAndKeptFromOthersWhoTakeTheirsSo", func(t *testing.T) {
		seen := map[string]bool{}
		for range 50 {
			block, err := takePorts(3)
			require.NoError(t, err)
			defer block.first.Close()
			require.Len(t, block.addresses, 3)
			for _, address := range block.addresses {
				require.False(t, seen[address], "%s is taken already", address)
				seen[address] = true
				listener, err := net.Listen("tcp", address)
				require.NoError(t, err)
				require.NoError(t, listener.Close())
			}
		}
	})
	t.Run("AreNotTakenWhereSomebodyListens", func(t *testing.T) {
		block, err := takePorts(3)
		require.NoError(t, err)
		defer block.first.Close()
		for _, address := range block.addresses {
			listener, err := net.Listen("tcp", address)
			require.NoError(t, err)
			require.Error(t, (&portBlock{first: block.first}).find(3))
			require.NoError(t, listener.Close())
			require.NoError(t, (&portBlock{first: block.first}).find(3))
		}
	})
}
