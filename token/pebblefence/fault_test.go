package pebblefence

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// faultChildEnv makes the test binary a child of TestEveryFault. Its value is
// "mode first directory".
const faultChildEnv = "PEBBLEFENCE_TEST_FAULT"

// fault fails the n-th operation after arm, or all from there on.
type fault struct {
	n     int64
	ever  bool
	armed atomic.Bool
	count atomic.Int64
	hit   atomic.Bool
}

func (f *fault) MaybeError(errorfs.Op) error {
	if !f.armed.Load() {
		return nil
	}
	if count := f.count.Add(1); count == f.n || f.ever && count > f.n {
		f.hit.Store(true)
		return syscall.EIO
	}
	return nil
}

func (f *fault) String() string { return fmt.Sprintf("fault %d", f.n) }

// TestEveryFault fails every operation of the file system in New and in each
// step (under the race detector a sample of them), once and from there on. The engine ends the process when its log can't
// be written, so the steps run in children of the test, which say what they
// began and what was acknowledged.
func TestEveryFault(t *testing.T) {
	if child := os.Getenv(faultChildEnv); child != "" {
		faultChild(t, child)
		return
	}
	for _, mode := range []string{"once", "ever"} {
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
			require.Greater(t, runs, 40/sample)
			require.Positive(t, crashes)
		})
	}
}

// faultRun runs a child from the first-th fault on. It returns true when the
// child got as far as a fault that was never reached, and false when the engine
// ended it, with the fault and the steps of it.
func faultRun(t *testing.T, mode string, first int, root string) (last, low, high int, done bool) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestEveryFault$", "-test.timeout=2m")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", faultChildEnv, mode, first, root))
	out, err := child.CombinedOutput()
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "fault %d", &n); err == nil {
			last, low, high = n, 0, 0
		}
		if _, err := fmt.Sscanf(lines.Text(), "begun %d", &n); err == nil {
			high = n
		}
		if _, err := fmt.Sscanf(lines.Text(), "done %d", &n); err == nil {
			low = n
		}
	}
	if err == nil {
		return last, low, high, true
	}
	require.Contains(t, string(out), "panic: ", "fault %d", last)
	// A log that can't be rotated ends the process in the engine without a word:
	// it panics between giving back a lock and taking it again.
	require.Regexp(t, syscall.EIO.Error()+`|DB\)\.rotateWAL`, string(out), "fault %d: an end that is not by design", last)
	require.NotContains(t, string(out), "runtime error", "fault %d", last)
	require.NotContains(t, string(out), "test timed out", "fault %d", last)
	return last, low, high, false
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
		injected := &fault{n: int64(n), ever: mode == "ever"}
		low, high, err := faultSteps(t, root, injected)
		if !injected.hit.Load() {
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

func faultSteps(t *testing.T, root string, injected *fault) (low, high int, err error) {
	db, err := openSmall(filepath.Join(root, "work"), errorfs.Wrap(vfs.Default, injected))
	require.NoError(t, err)
	injected.armed.Store(true)
	defer func() {
		injected.armed.Store(false)
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
