package coordinator_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode/disktest/kerneltest"
)

// faults are what one test of failing operations has seen.
type faults struct {
	refused int // errors of Open or of a call
	ended   int // ends of the process
	passed  int // the node went on as if nothing had been
	reached map[kerneltest.Kind]int
	without map[string]int // what it did without
	costly  []string       // those of them that may have been to keep something
}

// Every operation on the files of a node fails in turn, once or from there on,
// whatever it is: of its identity, of the engine's marks, of the log or of the
// store. Either a call returns an error that tells of it, or the process ends
// and says why, or the operation was one that the node can do without. After the
// power was lost on top of it, a start on a disk that is well again finds
// everything that was acknowledged.
func TestEveryDiskOperationFails(t *testing.T) {
	t.Parallel()
	t.Run("Once", func(t *testing.T) {
		t.Parallel()
		f := failEach(t, 12, kerneltest.Fault{})
		require.Positive(t, f.refused)
		require.Positive(t, f.ended)
	})
	t.Run("ForEver", func(t *testing.T) {
		t.Parallel()
		f := failEach(t, 12, kerneltest.Fault{Ever: true})
		require.Positive(t, f.refused)
		require.Positive(t, f.ended)
	})
}

// What a sync that failed was to make durable is lost, though the next sync of the
// file succeeds. So nobody asks again: the first failure is the end of what the
// node does, and so is that of a write.
func TestASyncOrWriteThatFailsOnceIsTheEnd(t *testing.T) {
	t.Parallel()
	for _, only := range []kerneltest.Kind{kerneltest.Sync, kerneltest.Write} {
		t.Run(only.String(), func(t *testing.T) {
			t.Parallel()
			f := failEach(t, 8, kerneltest.Fault{Only: only})
			require.Empty(t, f.costly, "it went on after")
			require.Positive(t, f.ended)
		})
	}
}

// costsNothing reports whether nobody needs what the operation that failed was to
// write or to make durable: it was of a compaction. That writes anew what is
// durable already, and one that fails leaves what it read in place. The store has
// failed then, so the node can go on only if it closes.
//
// A compaction syncs its tables first and then their directory. A sync of the
// directory is for all names that are new there, so it costs nothing if every one
// of them is of a table that is removed again before the node is closed. The table
// of a flush that is done stays.
func costsNothing(journal []kerneltest.Operation, failed int) bool {
	path := journal[failed].Path
	if strings.HasSuffix(path, ".sst") {
		return true
	}
	if journal[failed].Kind != kerneltest.Sync || filepath.Base(path) != "machines" {
		return false
	}
	removed := make(map[string]bool)
	for _, o := range journal[failed:] {
		if o.Kind == kerneltest.Note && o.To == noteClosed {
			break
		}
		if o.Kind == kerneltest.Unlink && o.Failed == 0 {
			removed[o.Path] = true
		}
	}
	tables := 0
	for _, o := range slices.Backward(journal[:failed]) {
		switch {
		case o.Failed != 0:
		case o.Kind == kerneltest.Sync && o.Path == path:
			return tables > 0
		case o.Kind == kerneltest.Open && o.Flags&syscall.O_CREAT != 0 && filepath.Dir(o.Path) == path:
			if !strings.HasSuffix(o.Path, ".sst") || !removed[o.Path] {
				return false
			}
			tables++
		case (o.Kind == kerneltest.Rename || o.Kind == kerneltest.Link) && filepath.Dir(o.To) == path:
			return false
		}
	}
	return false
}

// failEach sends errands, in each of which another call fails, until one is over
// before its fault: one for each call, or about as many as samples. A call fails
// as kind says.
func failEach(t *testing.T, samples int, kind kerneltest.Fault) faults {
	t.Helper()
	random := diskRandom(t)
	whole := sendErrand(t, 1, kerneltest.Fault{})
	require.NoError(t, whole.ended, "%s", whole.said)
	f := faults{reached: make(map[kerneltest.Kind]int), without: make(map[string]int)}
	every := 1
	if !*diskAll {
		every = max(1, calls(whole, kind.Only)/samples)
	}
	for at := 1 + random.IntN(every); ; at += every {
		fault := kind
		fault.At, fault.With = at, []syscall.Errno{syscall.EIO, syscall.ENOSPC}[random.IntN(2)]
		r := sendErrand(t, 1, fault)
		if !f.judge(t, r, fault) {
			break // it was over before
		}
		left := []kerneltest.Left{kerneltest.Synced, kerneltest.Synced, kerneltest.All}[random.IntN(3)]
		r.keptAfter(t, fault, left)
	}
	t.Logf("%d calls failed, by kind %v: %d errors, %d ends of the process, %d that the node did without: %v",
		f.refused+f.ended+f.passed, f.reached, f.refused, f.ended, f.passed, f.without)
	require.Greater(t, f.refused+f.ended+f.passed, samples/2)
	return f
}

// calls returns how many calls can fail in an errand: of those that change
// nothing none are written down, so it is a little less.
func calls(r errandResult, only kerneltest.Kind) int {
	n := 0
	for _, o := range r.journal {
		if o.Kind != kerneltest.Note && (only == 0 || o.Kind == only) {
			n++
		}
	}
	return n
}

// judge checks how an errand went in which a call failed. It returns false when
// the errand was over before that.
func (f *faults) judge(t *testing.T, r errandResult, fault kerneltest.Fault) bool {
	t.Helper()
	done := newDone()
	var failed []kerneltest.Operation
	first := 0
	for i, o := range r.journal {
		done.note(t, o)
		if o.Failed != 0 {
			require.Equal(t, fault.With, o.Failed, "an error that the kernel made: %v", o)
			if len(failed) == 0 {
				first = i
			}
			failed = append(failed, o)
		}
	}
	if len(failed) == 0 {
		require.NoError(t, r.ended, "%+v: nothing failed:\n%s", fault, r.said)
		require.Equal(t, 2, done.closed, "%+v: nothing failed: %s", fault, done.refused)
		return false
	}
	if !fault.Ever {
		require.Len(t, failed, 1)
	}
	f.reached[failed[0].Kind]++
	why := fmt.Sprintf("%+v, %v: %v\n%s", fault, failed[0], r.ended, r.said)
	var exit *exec.ExitError
	switch {
	case errors.As(r.ended, &exit):
		f.ended++
		require.Contains(t, r.said, "panic: ", why)
		require.Contains(t, r.said, fault.With.Error(), why)
		require.NotContains(t, r.said, "runtime error", why)
		require.NotContains(t, r.said, "fatal error", why)
	case done.refused != "":
		f.refused++
		cause := fault.With.Error()
		if strings.HasSuffix(failed[0].Path, "/raft/LOCK") {
			cause = "the engine does not say which" // it keeps what failed to itself
		}
		require.Contains(t, done.refused, cause, why)
		require.Contains(t, done.refused, "/root", "%s: the error names no file: %s", why, done.refused)
	default:
		f.passed++
		f.without[fmt.Sprintf("%v %s", failed[0].Kind, filepath.Base(failed[0].Path))]++
		if !costsNothing(r.journal, first) {
			f.costly = append(f.costly, why)
		}
		require.Equal(t, 2, done.closed, why)
	}
	return true
}

// keptAfter checks that nothing is lost that was acknowledged in an errand in
// which a call failed.
func (r errandResult) keptAfter(t *testing.T, fault kerneltest.Fault, left kerneltest.Left) {
	t.Helper()
	image, done := kerneltest.NewImage(), newDone()
	for i, o := range r.journal {
		require.NoError(t, image.Apply(o), "%+v: operation %d", fault, i)
		done.note(t, o)
	}
	root := filepath.Join(t.TempDir(), "left")
	require.NoError(t, image.Leave(root, left, nil))
	done.kept(t, 1, func(int) string { return root }, fmt.Sprintf("%+v, with %v", fault, left))
	require.NoError(t, os.RemoveAll(root))
}
