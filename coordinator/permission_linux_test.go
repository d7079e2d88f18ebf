package coordinator_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/internal/saidtest"
)

// startAsAnybody starts a process for which the modes of files count, also if
// this one is root's.
func startAsAnybody(cmd *exec.Cmd) error {
	if os.Geteuid() != 0 {
		return cmd.Start()
	}
	started := make(chan error, 1)
	go func() {
		// What this thread can't pass on, the process does not get. The thread
		// ends with its goroutine, because it stays locked to it.
		runtime.LockOSThread()
		for _, capability := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
				started <- err
				return
			}
		}
		started <- cmd.Start()
	}()
	return <-started
}

// openAsAnybody opens a directory in a process of its own, which must not panic
// or hang.
func openAsAnybody(t *testing.T, dir string) (o Opening) {
	t.Helper()
	var out, said saidtest.Log
	cmd := exec.CommandContext(patient(t), os.Args[0])
	// The race detector would hold up the end of each of them by a second.
	cmd.Env = append(os.Environ(), nodeProcessVariable+"="+asOpener, openerDirVariable+"="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stdout, cmd.Stderr = &out, &said
	require.NoError(t, startAsAnybody(cmd))
	require.NoError(t, cmd.Wait(), "%v%v", &out, &said)
	require.NoError(t, json.Unmarshal([]byte(out.String()), &o))
	return o
}

// chmod changes a mode until the test ends.
func chmod(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, mode))
	t.Cleanup(func() {
		require.NoError(t, os.Chmod(path, info.Mode().Perm()))
	})
}

// S149: wrong rights are an error of Open that says so and names the place.
func TestS149NoPermission(t *testing.T) {
	t.Run("ToMakeTheDirectory", func(t *testing.T) {
		parent := t.TempDir()
		chmod(t, parent, 0o500)
		o := openAsAnybody(t, filepath.Join(parent, "node"))
		require.True(t, o.Permission, "%+v", o)
		require.Contains(t, o.Text, parent)
	})
	t.Run("ToLookBelowAParent", func(t *testing.T) {
		parent := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(parent, "node"), 0o700))
		chmod(t, parent, 0)
		o := openAsAnybody(t, filepath.Join(parent, "node"))
		require.True(t, o.Permission, "%+v", o)
		require.Contains(t, o.Text, parent)
	})
	t.Run("ToWriteToAnEmptyDirectory", func(t *testing.T) {
		dir := t.TempDir()
		chmod(t, dir, 0o500)
		o := openAsAnybody(t, dir)
		require.True(t, o.Permission, "%+v", o)
		require.Contains(t, o.Text, dir)
		require.Empty(t, namesBelow(t, dir), "nothing is half done")
	})
	t.Run("ToAnyFileOrDirectoryOfANode", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "node")
		require.Empty(t, openAsAnybody(t, dir).Text)
		refused := 0
		for _, name := range namesBelow(t, dir) {
			for _, mode := range []fs.FileMode{0o400, 0} {
				path := filepath.Join(dir, name)
				info, err := os.Lstat(path)
				if errors.Is(err, fs.ErrNotExist) || info.Mode()&fs.ModeSymlink != 0 {
					continue // replaced by a start that went well
				}
				require.NoError(t, err)
				if info.IsDir() {
					mode |= 0o100 & (mode >> 2) // what can be read can be entered
				}
				require.NoError(t, os.Chmod(path, mode))
				o := openAsAnybody(t, dir)
				if _, err := os.Lstat(path); err == nil {
					require.NoError(t, os.Chmod(path, info.Mode().Perm()))
				}
				if o.Text == "" {
					continue // it is not needed, or replaced
				}
				refused++
				require.True(t, o.Permission, "%s with mode %v: %s", name, mode, o.Text)
				require.Contains(t, o.Text, dir, "%s with mode %v", name, mode)
			}
		}
		require.NotZero(t, refused)
		require.Empty(t, openAsAnybody(t, dir).Text, "it opens when all is as it was")
	})
	t.Run("AFileInThePlaceOfTheDirectory", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, []byte("content"), 0o600))
		for _, dir := range []string{path, filepath.Join(path, "below")} {
			_, err := coordinator.Open(patient(t), coordinator.Config{Dir: dir})
			require.ErrorIs(t, err, unix.ENOTDIR)
			require.ErrorContains(t, err, dir)
		}
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "content", string(content))
	})
}

// namesBelow returns the names of all that is in a directory, as paths from
// there.
func namesBelow(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, name)
		return err
	}))
	return names
}
