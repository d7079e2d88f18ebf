package porttest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTake(t *testing.T) {
	t.Run("WhatIsFreeAndKeptFromOthersWhoTakeTheirsSo", func(t *testing.T) {
		seen := map[string]bool{}
		for range 50 {
			addresses := Take(t, 3)
			require.Len(t, addresses, 3)
			for _, address := range addresses {
				require.False(t, seen[address], "%s is taken already", address)
				seen[address] = true
				listener, err := net.Listen("tcp", address)
				require.NoError(t, err)
				require.NoError(t, listener.Close())
			}
		}
	})
	t.Run("NotWhereSomebodyListens", func(t *testing.T) {
		for _, address := range Take(t, 3) {
			listener, err := net.Listen("tcp", address)
			require.NoError(t, err)
			port := listener.Addr().(*net.TCPAddr).Port
			_, err = free(port, 1)
			require.Error(t, err)
			require.NoError(t, listener.Close())
			addresses, err := free(port, 1)
			require.NoError(t, err)
			require.Equal(t, []string{address}, addresses)
		}
	})
}
