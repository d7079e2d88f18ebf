package raftlog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"
)

const fullChildEnv = "RAFTLOG_TEST_FULL"

// TestOpenOnAFullDiskReturns: pebble's Open would try to flush what it replays for
// ever. What is left behind would be a leak to other tests, so this is in a child.
func TestOpenOnAFullDiskReturns(t *testing.T) {
	dir := os.Getenv(fullChildEnv)
	if dir == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestOpenOnAFullDiskReturns$", "-test.timeout=2m")
		child.Env = append(os.Environ(), fullChildEnv+"="+t.TempDir())
		out, err := child.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "PASS")
		return
	}
	s, err := open(dir, Options{FS: newUnsynced()}, memTableBytes)
	require.NoError(t, err)
	fill(t, s, 1, 1, 1000) // one memtable, which is several of the next open
	require.NoError(t, s.Close())

	var fulls atomic.Int64
	full := errorfs.Wrap(newUnsynced(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			fulls.Add(1)
			return syscall.ENOSPC
		}
		return nil
	}))
	_, err = open(dir, Options{FS: full}, smallMemTable)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, dir)
	tried := fulls.Load()
	require.Positive(t, tried)

	// There is room again, and the directory is not locked.
	s, err = open(dir, Options{FS: newUnsynced()}, smallMemTable)
	require.NoError(t, err)
	require.Len(t, readOf(t, s, 1, 1, 1001), 1000)
	require.NoError(t, s.Close())
	require.Equal(t, tried, fulls.Load(), "what was left behind goes on")
}

// TestOpenThatFailsAfterAFlushReturns: pebble's Open would close what the
// goroutines of the flush still use. Every file operation fails that comes after
// the first table was begun.
func TestOpenThatFailsAfterAFlushReturns(t *testing.T) {
	dir := os.Getenv(fullChildEnv)
	if dir == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestOpenThatFailsAfterAFlushReturns$", "-test.timeout=5m")
		child.Env = append(os.Environ(), fullChildEnv+"="+t.TempDir())
		out, err := child.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "PASS")
		return
	}
	base := filepath.Join(dir, "base")
	s, err := open(base, Options{FS: newUnsynced()}, memTableBytes)
	require.NoError(t, err)
	fill(t, s, 1, 1, 300)
	require.NoError(t, s.Close())
	for n := int64(1); ; n += sample {
		work := filepath.Join(dir, fmt.Sprint(n))
		require.NoError(t, os.CopyFS(work, os.DirFS(base)))
		var count atomic.Int64
		fs := errorfs.Wrap(newUnsynced(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			begun := op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst")
			if (begun || count.Load() > 0) && count.Add(1) > n {
				return syscall.EIO
			}
			return nil
		}))
		s, err := open(work, Options{FS: fs}, smallMemTable)
		if err == nil {
			require.Greater(t, n, int64(30), "nothing was tested")
			_ = s.Close()
			return
		}
		require.ErrorIs(t, err, syscall.EIO)
		s, err = open(work, Options{FS: newUnsynced()}, smallMemTable)
		require.NoError(t, err, "after fault %d", n)
		require.Len(t, readOf(t, s, 1, 1, 301), 300)
		require.NoError(t, s.Close())
		require.NoError(t, os.RemoveAll(work))
	}
}

// TestALogThatCanNotBeChangedEndsTheProcess: pebble would end it too, without a
// word of why.
func TestALogThatCanNotBeChangedEndsTheProcess(t *testing.T) {
	const childEnv = "RAFTLOG_TEST_ROTATE"
	if dir := os.Getenv(childEnv); dir != "" {
		var failing atomic.Bool
		fs := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if failing.Load() && (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite) && strings.HasSuffix(op.Path, ".log") {
				return syscall.ENOSPC
			}
			return nil
		}))
		s, err := open(dir, Options{FS: fs}, smallMemTable)
		require.NoError(t, err)
		failing.Store(true)
		fill(t, s, 1, 1, 10_000)
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestALogThatCanNotBeChangedEndsTheProcess$", "-test.timeout=2m")
	dir := t.TempDir()
	child.Env = append(os.Environ(), childEnv+"="+dir)
	out, err := child.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "panic: log store "+dir)
	require.Contains(t, string(out), syscall.ENOSPC.Error())
	require.NotContains(t, string(out), "fatal error")
}

// What a failed sync of the directory was to make durable is lost, though the next
// one succeeds. A flush that came with the next would be done, and its write-ahead
// log be gone.
func TestAFailedSyncOfTheDirectoryIsFinal(t *testing.T) {
	mem := vfs.NewMem()
	require.NoError(t, mem.MkdirAll(testStoreDir, 0o700))
	syncs := 0
	disk := newFailure(testStoreDir, orDiscard(nil))
	require.NoError(t, disk.opened())
	fs := newDatabaseFS(errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind != errorfs.OpFileSync {
			return nil
		}
		if syncs++; syncs == 1 {
			return syscall.EIO
		}
		return nil
	})), disk)
	for range 2 { // a compaction's handle, and a flush's
		dir, err := fs.OpenDir(testStoreDir)
		require.NoError(t, err)
		require.ErrorIs(t, dir.Sync(), syscall.EIO)
		require.NoError(t, dir.Close())
	}
	require.Equal(t, 1, syncs)
	require.ErrorIs(t, disk.get(), syscall.EIO)
}
