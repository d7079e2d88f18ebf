package pebbledb

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/pebbletest"
)

// quiet panics where pebble's own logger ends the process.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { panic(Fatal(format, args...)) }

func options(fs vfs.FS) *pebble.Options {
	opts := &pebble.Options{FS: fs, Logger: quiet{}}
	opts.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	return opts
}

// TestADirectoryThatIsOpenIsLocked: on disk and in memory, in this process and, by
// a second run of the test, in another one.
func TestADirectoryThatIsOpenIsLocked(t *testing.T) {
	const variable = "PEBBLEDB_TEST_LOCKED"
	if dir := os.Getenv(variable); dir != "" {
		_, err := Open(dir, options(vfs.Default))
		require.True(t, IsLocked(err), "%v", err)
		return
	}
	for name, fs := range map[string]vfs.FS{"OnDisk": vfs.Default, "InMemory": vfs.NewMem()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db, err := Open(dir, options(fs))
			require.NoError(t, err)
			_, err = Open(dir, options(fs))
			require.True(t, IsLocked(err), "%v", err)
			if fs == vfs.Default {
				other := exec.Command(os.Args[0], "-test.run=^TestADirectoryThatIsOpenIsLocked$")
				other.Env = append(os.Environ(), variable+"="+dir)
				said, err := other.CombinedOutput()
				require.NoError(t, err, "%s", said)
			}
			require.NoError(t, db.Close())
			db, err = Open(dir, options(fs))
			require.NoError(t, err)
			require.NoError(t, db.Close())
		})
	}
	require.False(t, IsLocked(nil))
	require.False(t, IsLocked(&os.PathError{Op: "open", Path: "LOCK", Err: syscall.EACCES}), "no right to open it")
}

// TestADiskThatFailsUnderOpenIsAnError fails every operation in turn, from there
// on. Some of these make pebble panic.
func TestADiskThatFailsUnderOpenIsAnError(t *testing.T) {
	failures := 0
	for n, reached := 1, true; reached; n++ {
		fault := pebbletest.NewFault(n, pebbletest.Ever)
		fault.Arm()
		db, err := Open("db", options(fault.On(vfs.NewMem())))
		fault.Disarm()
		reached = fault.Hit()
		if err == nil { // pebble does without its last operations
			require.NoError(t, db.Close())
			continue
		}
		failures++
		require.True(t, reached)
		require.ErrorIs(t, err, syscall.EIO)
		require.Nil(t, db)
	}
	require.Greater(t, failures, 10)
}

func TestFatalKeepsTheCause(t *testing.T) {
	cause := errors.New("the cause")
	err := fmt.Errorf("store: %w", Fatal("%s failed: %v", "a sync", cause))
	require.EqualError(t, err, "store: a sync failed: the cause")
	require.ErrorIs(t, err, cause)
	require.NoError(t, errors.Unwrap(Fatal("no cause")))
}
