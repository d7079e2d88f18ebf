package pebbletest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"
)

// Once and Ever are the modes of a Fault.
const (
	Once = "once"
	Ever = "ever"
)

// Fault fails the Nth operation on a file after Arm with EIO, or all from there
// on.
type Fault struct {
	n     int64
	ever  bool
	armed atomic.Bool
	count atomic.Int64
	hit   atomic.Bool
}

// NewFault returns a fault that is not armed. mode is Once or Ever.
func NewFault(n int, mode string) *Fault { return &Fault{n: int64(n), ever: mode == Ever} }

// On returns a file system that has the fault.
func (f *Fault) On(fs vfs.FS) vfs.FS { return errorfs.Wrap(fs, f) }

// Arm makes the following operations count.
func (f *Fault) Arm() { f.armed.Store(true) }

// Disarm makes the disk well again.
func (f *Fault) Disarm() { f.armed.Store(false) }

// Hit reports whether an operation has failed.
func (f *Fault) Hit() bool { return f.hit.Load() }

// MaybeError implements errorfs.Injector.
func (f *Fault) MaybeError(errorfs.Op) error {
	if !f.armed.Load() {
		return nil
	}
	if count := f.count.Add(1); count == f.n || f.ever && count > f.n {
		f.hit.Store(true)
		return syscall.EIO
	}
	return nil
}

// String implements errorfs.Injector.
func (f *Fault) String() string { return fmt.Sprintf("fault %d", f.n) }

// Child is a run of a test in a process of its own, in which it makes faults: pebble
// ends the process when it no longer knows what is on disk, in a goroutine of its
// own.
type Child struct {
	// Variable is the environment variable that makes the test a child, Args what
	// it is set to.
	Variable, Args string
	// Flags are more flags of the test.
	Flags []string
	// OrElse is what is said in an end that pebble gives the process by mistake,
	// and that nobody can help. Empty: there is none.
	OrElse string
}

// Run runs the child. It returns the lines that it has printed, and whether a fault
// has ended it, by a panic that says why. Any other end fails the test.
func (c Child) Run(t *testing.T) (lines []string, ended bool) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(os.Args[0], append(c.Flags, "-test.run=^"+name+"$", "-test.timeout=2m")...)
	cmd.Env = append(os.Environ(), c.Variable+"="+c.Args)
	out, err := cmd.CombinedOutput()
	said := string(out)
	lines = strings.Split(said, "\n")
	if err == nil {
		return lines, false
	}
	for _, text := range []string{"runtime error", "test timed out"} {
		require.NotContains(t, said, text)
	}
	require.Contains(t, said, "panic: ")
	if c.OrElse != "" && strings.Contains(said, c.OrElse) {
		return lines, true
	}
	require.Contains(t, said, syscall.EIO.Error(), "an end that is not by design")
	require.NotContains(t, said, "fatal error")
	return lines, true
}
