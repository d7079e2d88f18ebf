package pebblefence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/pebbletest"
	"github.com/palisade-go/palisade/token"
)

// faultChildEnv makes the test binary a child of TestEveryFault. Its value is
// "mode first directory".
const faultChildEnv = "PEBBLEFENCE_TEST_FAULT"

// TestEveryFault fails every operation of the file system in New and in each
// step (under the race detector a sample of them), once and from there on. The engine ends the process when its log can't
// be written, so the steps run in children of the test, which say what they
// began and what was acknowledged.
func TestEveryFault(t *testing.T) {
	if child := os.Getenv(faultChildEnv); child != "" {
		faultChild(t, child)
		return
	}
	for _, mode := range []string{pebbletest.Once, pebbletest.Ever} {
		t.Run(mode, func(t *testing.T) {
			root := t.TempDir()
			all := states(t)
			runs, crashes := 0, 0
			for first, done := 1, false; !done; {
				var last, low, high int
				last, low, high, done = faultRun(t, mode, first, root)
				runs += (last-first)/sample + 1
				if !done {
					crashes++
					checkFault(t, root, all, low, high, fmt.Sprintf("fault %d", last))
				}
				first = last + sample
			}
			t.Logf("%d operations failed, %d ended the process", runs-1, crashes)
			require.Greater(t, runs, 2*len(steps())/sample, "a write and a sync of the log for each step, at least")
			require.Positive(t, crashes)
		})
	}
}

// faultRun runs a child from the first-th fault on. It returns true when the
// child got as far as a fault that was never reached, and false when the engine
// ended it, with the fault and the steps of it.
func faultRun(t *testing.T, mode string, first int, root string) (last, low, high int, done bool) {
	t.Helper()
	child := pebbletest.Child{
		Variable: faultChildEnv, Args: fmt.Sprintf("%s %d %s", mode, first, root),
		// A log that can't be rotated ends the process in the engine without a word:
		// it panics between giving back a lock and taking it again.
		OrElse: "DB).rotateWAL",
	}
	lines, ended := child.Run(t)
	for _, line := range lines {
		var n int
		if _, err := fmt.Sscanf(line, "fault %d", &n); err == nil {
			last, low, high = n, 0, 0
		}
		if _, err := fmt.Sscanf(line, "begun %d", &n); err == nil {
			high = n
		}
		if _, err := fmt.Sscanf(line, "done %d", &n); err == nil {
			low = n
		}
	}
	return last, low, high, !ended
}

// faultChild does the steps with one fault after the other until one is not
// reached, and checks what each has left.
func faultChild(t *testing.T, args string) {
	var mode, root string
	var first int
	_, err := fmt.Sscan(args, &mode, &first, &root)
	require.NoError(t, err)
	all := states(t)
	for n := first; ; n += sample {
		fmt.Printf("fault %d\n", n)
		require.NoError(t, os.RemoveAll(filepath.Join(root, "work")))
		injected := pebbletest.NewFault(n, mode)
		low, high, err := faultSteps(t, root, injected)
		if !injected.Hit() {
			require.NoError(t, err)
			require.Equal(t, len(all)-1, low)
			return
		}
		if err != nil {
			// No logger's Fatalf has returned, so no outcome is unknown.
			require.ErrorIs(t, err, syscall.EIO)
			require.NotErrorIs(t, err, token.ErrUnknown)
			high = low
		}
		checkFault(t, root, all, low, high, injected.String())
	}
}

func faultSteps(t *testing.T, root string, injected *pebbletest.Fault) (low, high int, err error) {
	db, err := openSmall(filepath.Join(root, "work"), injected.On(vfs.Default))
	require.NoError(t, err)
	injected.Arm()
	defer func() {
		injected.Disarm()
		// A close that fails after a fault is the engine's; what is on disk
		// counts.
		if closeErr := db.Close(); closeErr != nil && !errors.Is(closeErr, syscall.EIO) {
			err = errors.Join(err, closeErr)
		}
	}()
	g, err := stepsGuard(db)
	if err != nil {
		return 0, 0, err
	}
	for n, step := range steps() {
		fmt.Printf("begun %d\n", n+1)
		if err := step(g); err != nil {
			return n, n + 1, err
		}
		fmt.Printf("done %d\n", n+1)
	}
	return len(steps()), len(steps()), nil
}

// checkFault opens what a fault has left, with a disk that is well again.
func checkFault(t *testing.T, root string, all []string, low, high int, at string) {
	t.Helper()
	db, err := openSmall(filepath.Join(root, "work"), vfs.Default)
	require.NoError(t, err, at)
	checkLeft(t, db, all, low, high, at)
	require.NoError(t, db.Close())
}
