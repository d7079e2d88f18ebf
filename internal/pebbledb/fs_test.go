package pebbledb

import (
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"
)

// The directory is synced by a flush, a compaction and a rotation of the
// manifest, each through a handle of its own. What one was to make durable when
// it failed may be the table of another.
func TestASyncOfTheDirectoryThatFailedIsTheLast(t *testing.T) {
	var syncs atomic.Int32
	reached, free := make(chan struct{}), make(chan struct{})
	fs := NewFS(errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind != errorfs.OpFileSync || syncs.Add(1) != 1 {
			return nil
		}
		close(reached)
		<-free
		return syscall.EIO
	})))
	require.NoError(t, fs.MkdirAll("db", 0o700))
	var dirs [3]vfs.File
	for i := range dirs {
		dir, err := fs.OpenDir("db")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, dir.Close()) })
		dirs[i] = dir
	}
	compaction, flush := make(chan error, 1), make(chan error, 1)
	go func() { compaction <- dirs[0].Sync() }()
	<-reached
	go func() { flush <- dirs[1].Sync() }() // the one before is not over
	close(free)
	require.ErrorIs(t, <-compaction, syscall.EIO)
	require.ErrorIs(t, <-flush, syscall.EIO)
	require.ErrorIs(t, dirs[0].Sync(), syscall.EIO)
	require.ErrorIs(t, dirs[2].Sync(), syscall.EIO)
	require.EqualValues(t, 1, syncs.Load(), "the disk was asked again")
}
