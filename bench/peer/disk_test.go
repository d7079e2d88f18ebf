package peer_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/palisade-go/palisade/bench/peer"
)

// memoryDir returns a directory that is in memory, if this machine has one.
func memoryDir(t *testing.T) string {
	t.Helper()
	const shared = "/dev/shm"
	var fs unix.Statfs_t
	if err := unix.Statfs(shared, &fs); err != nil || fs.Type != unix.TMPFS_MAGIC {
		t.Skipf("%s is no tmpfs here", shared)
	}
	return shared
}

func TestADirectoryInMemoryIsRefused(t *testing.T) {
	require.ErrorContains(t, peer.CheckDisk(memoryDir(t)), "tmpfs")
}

func TestADirectoryOnADiskIsNot(t *testing.T) {
	require.NoError(t, peer.CheckDisk("/"))
	require.Error(t, peer.CheckDisk(filepath.Join(t.TempDir(), "none")))
}
