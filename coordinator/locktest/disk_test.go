package locktest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

func TestSetDiskFree(t *testing.T) {
	c := locktest.New(t, 1)
	n := c.Node(1)
	await := func(what string, free uint64, short bool) {
		require.NoError(t, c.Await(patient(t), what, func() bool {
			s := n.Coordinator().Status()
			return s.DiskFreeBytes == free && (s.DiskErr != nil) == short
		}))
	}
	require.NotZero(t, n.Coordinator().Status().DiskFreeBytes, "what the disk says")
	n.SetDiskFree(coordinator.DiskSpaceMin - 1)
	await("the node to be short of disk space", coordinator.DiskSpaceMin-1, true)
	n.SetDiskFree(coordinator.DiskSpaceAgain)
	await("the node to have enough", coordinator.DiskSpaceAgain, false)

	t.Run("LastsThroughARestart", func(t *testing.T) {
		n.Restart()
		await("the node to see the same", coordinator.DiskSpaceAgain, false)
	})
}
