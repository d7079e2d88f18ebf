package raftlog

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/pebbletest"
)

// faultChildEnv makes the test binary a child of TestEveryFault. Its value is
// "mode first seed directory".
const faultChildEnv = "RAFTLOG_TEST_FAULT"

// faultBase is how many operations of the history have been done when the faults
// begin, and faultOps how many there are.
const (
	faultBase = 50
	faultOps  = 90
)

func faultHistory(seed uint64) history {
	return newHistory(rand.New(rand.NewPCG(seed, 0)), faultOps, 6000)
}

// stride is how far apart the faults are that are tried.
func stride() int { return max(1, *strideFlag) * sample }

// TestEveryFault fails every file operation of an open and forty operations (one
// in -stride of them, and less under the race detector), once each time and from
// there on each time. Pebble ends the process when it no longer knows what is on disk, in a
// goroutine of its own, so the operations run in children of the test: what they
// left is checked by the child that survived, or by the parent.
func TestEveryFault(t *testing.T) {
	if child := os.Getenv(faultChildEnv); child != "" {
		faultChild(t, child)
		return
	}
	seed := newRand(t).Uint64()
	for _, mode := range []string{pebbletest.Once, pebbletest.Ever} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := faultWork(t.TempDir())
			prepareFault(t, w, seed)
			runs, crashes, refused := 0, 0, 0
			for first, done := 1+int(seed%uint64(stride())), false; !done; {
				var report faultReport
				report, done = faultRun(t, mode, first, seed, w)
				runs += (report.last-first)/stride() + 1
				refused += report.refused
				if !done {
					crashes++
					w.check(t, faultHistory(seed))
				}
				first = report.last + stride()
			}
			t.Logf("%d file operations failed: %d errors, %d ends of the process", runs-1, refused, crashes)
			require.Greater(t, runs, 200/stride(), "nothing was tested")
			require.Positive(t, refused)
			if stride() < 10 {
				require.Positive(t, crashes)
			}
		})
	}
}

// faultWork is where the children work.
type faultWork string

func (w faultWork) base() string     { return filepath.Join(string(w), "base") }
func (w faultWork) dir() string      { return filepath.Join(string(w), "work") }
func (w faultWork) progress() string { return filepath.Join(string(w), "progress") }

// tell writes down how many operations are durable and how many have begun.
func (w faultWork) tell(t *testing.T, durable, begun int) {
	// The process may end at any moment.
	next := w.progress() + ".next"
	require.NoError(t, os.WriteFile(next, []byte(fmt.Sprintf("%d %d", durable, begun)), 0o644))
	require.NoError(t, os.Rename(next, w.progress()))
}

// check opens what a fault has left, twice, with a disk that is well again.
func (w faultWork) check(t *testing.T, h history) {
	t.Helper()
	text, err := os.ReadFile(w.progress())
	require.NoError(t, err)
	var durable, begun int
	_, err = fmt.Sscan(string(text), &durable, &begun)
	require.NoError(t, err)
	s, err := open(w.dir(), Options{FS: newUnsynced()}, smallMemTable)
	require.NoError(t, err)
	h.find(t, s, durable, begun, "the fault")
	goesOn(t, s)
	require.NoError(t, s.Close())
	s, err = open(w.dir(), Options{FS: newUnsynced()}, smallMemTable)
	require.NoError(t, err)
	h.find(t, s, durable, begun, "the second open after the fault")
	require.NoError(t, s.Close())
}

func prepareFault(t *testing.T, w faultWork, seed uint64) {
	t.Helper()
	s, err := open(w.base(), Options{FS: newUnsynced()}, smallMemTable)
	require.NoError(t, err)
	for _, op := range faultHistory(seed).ops[:faultBase] {
		require.NoError(t, op.call(s), op.name)
	}
	require.NoError(t, s.Close())
}

// faultReport is what a child has said.
type faultReport struct {
	last    int // the last fault it ran with
	refused int // how many times the operations ended with an error
}

// faultRun runs a child from the first-th fault on. It returns true when the
// child got as far as a fault that was never reached, and false when a fault
// ended it by design. Any other end fails the test.
func faultRun(t *testing.T, mode string, first int, seed uint64, w faultWork) (report faultReport, done bool) {
	t.Helper()
	child := pebbletest.Child{
		Variable: faultChildEnv, Args: fmt.Sprintf("%s %d %d %s", mode, first, seed, w),
		Flags: []string{fmt.Sprintf("-stride=%d", *strideFlag)},
	}
	lines, ended := child.Run(t)
	for _, line := range lines {
		var n int
		if _, err := fmt.Sscanf(line, "fault %d", &n); err == nil {
			report.last = n
		}
		if line == "refused" {
			report.refused++
		}
		require.NotContains(t, line, "--- FAIL", "fault %d", report.last)
	}
	return report, !ended
}

// faultChild runs the operations with one fault after the other until one is not
// reached, and checks what each has left.
func faultChild(t *testing.T, args string) {
	var mode string
	var first int
	var seed uint64
	var w faultWork
	_, err := fmt.Sscan(args, &mode, &first, &seed, &w)
	require.NoError(t, err)
	h := faultHistory(seed)
	for n := first; ; n += stride() {
		fmt.Printf("fault %d\n", n)
		require.NoError(t, os.RemoveAll(w.dir()))
		require.NoError(t, os.CopyFS(w.dir(), os.DirFS(w.base())))
		injected := pebbletest.NewFault(n, mode)
		injected.Arm()
		err := faultOperations(t, w, h, injected.On(newUnsynced()))
		if err != nil {
			require.ErrorIs(t, err, syscall.EIO)
			fmt.Println("refused")
		}
		w.check(t, h)
		if !injected.Hit() {
			require.NoError(t, err)
			return
		}
	}
}

// faultOperations opens the store and does the operations until one fails.
func faultOperations(t *testing.T, w faultWork, h history, fs vfs.FS) error {
	w.tell(t, faultBase, faultBase)
	s, err := open(w.dir(), Options{FS: fs}, smallMemTable)
	if err != nil {
		return err
	}
	durable := faultBase
	for n := faultBase; n < faultOps; n++ {
		w.tell(t, durable, n+1)
		if err := h.ops[n].call(s); err != nil {
			requireFinal(t, s)
			return errors.Join(err, s.Close())
		}
		if h.ops[n].synced {
			durable = n + 1
			w.tell(t, durable, n+1)
		}
	}
	return s.Close()
}

// requireFinal checks that a failure of the store stays one.
func requireFinal(t *testing.T, s *Store) {
	t.Helper()
	failure := s.failure.get()
	if failure == nil {
		return // it could not read, and has written nothing
	}
	u := raftpb.Update{ShardID: 78, ReplicaID: 1, State: raftpb.State{Term: 1}}
	require.Equal(t, failure, s.SaveRaftState([]raftpb.Update{u}, 1))
	require.Equal(t, failure, s.SaveBootstrapInfo(78, 1, raftpb.Bootstrap{}))
	require.Equal(t, failure, s.RemoveEntriesTo(78, 1, 1))
}
