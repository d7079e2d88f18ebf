package pebblestore

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/pebbletest"
	"github.com/palisade-go/palisade/statemachine"
)

// faultChildEnv makes the test binary a child of TestEveryFault. Its value is
// "case mode first directory".
const faultChildEnv = "PEBBLESTORE_TEST_FAULT"

// faultMemTable makes a few rotations in each step.
const faultMemTable = 4 * smallMemTable

// faultCase is one step whose file-system operations fail one after the other.
type faultCase struct {
	// prepare makes the directory as it is before the step.
	prepare func(t *testing.T, dir string)
	// step runs with the fault. arm makes the following operations count; a
	// step that opens the store is armed from its beginning.
	step func(t *testing.T, open func() (*Store, error), arm func()) error
	// verify checks what the next Open finds. err is what the step returned,
	// errCrashed if it never returned.
	verify func(t *testing.T, s *Store, err error)
}

var errCrashed = errors.New("the process ended")

var faultCases = map[string]faultCase{
	"FirstOpen": {
		prepare: func(*testing.T, string) {},
		step:    openOnly,
		verify: func(t *testing.T, s *Store, _ error) {
			require.Equal(t, [][]byte{{kindFormat}}, rawKeys(t, s))
		},
	},
	"OpenThatCleansUp": {
		prepare: func(t *testing.T, dir string) { leaveBehind(t, dir, vfs.Default, rand.New(rand.NewPCG(1, 1))) },
		step:    openOnly,
		verify: func(t *testing.T, s *Store, _ error) {
			cleanedUp(t, s, "the fault")
		},
	},
	"CommitAndFlush": {
		prepare: prepareOld,
		step: func(t *testing.T, open func() (*Store, error), arm func()) error {
			s, err := open()
			require.NoError(t, err)
			defer s.Close()
			image := imageOf(t, s, 1, 1)
			arm()
			for n := range 30 {
				records := []statemachine.Record{set("n", fmt.Sprint(n)), set(fmt.Sprintf("n-%d", n), strings.Repeat("x", faultMemTable/8))}
				if err := image.Commit(records); err != nil {
					return err
				}
			}
			return s.Flush()
		},
		verify: func(t *testing.T, s *Store, err error) {
			got := contents(t, imageOf(t, s, 1, 1))
			last := -1
			if text, ok := got["n"]; ok {
				last, _ = strconv.Atoi(text)
			}
			require.Len(t, got, 50+min(last+1, 1)+last+1, "not a prefix: %d is the last", last)
			if err == nil {
				require.Equal(t, 29, last)
			}
		},
	},
	"Recover": {
		prepare: prepareOld,
		step: func(t *testing.T, open func() (*Store, error), arm func()) error {
			s, err := open()
			require.NoError(t, err)
			defer s.Close()
			image, data := imageOf(t, s, 1, 1), newStream(t)
			arm()
			return image.Recover(bytes.NewReader(data), nil)
		},
		verify: func(t *testing.T, s *Store, err error) {
			got := contents(t, imageOf(t, s, 1, 1))
			switch {
			case got["is"] == "old":
				require.Len(t, got, 50)
				require.Error(t, err, "Recover returned nil and the old image is back")
			case got["is"] == "new":
				require.Len(t, got, 151)
			default:
				t.Fatalf("neither the old nor the new image but %d records", len(got))
			}
		},
	},
	"Remove": {
		prepare: prepareOld,
		step: func(t *testing.T, open func() (*Store, error), arm func()) error {
			s, err := open()
			require.NoError(t, err)
			defer s.Close()
			image := imageOf(t, s, 1, 1)
			arm()
			return image.Remove()
		},
		verify: func(t *testing.T, s *Store, err error) {
			image, openErr := s.Image(1, 1)
			if errors.Is(openErr, ErrRemoved) {
				return
			}
			require.NoError(t, openErr)
			require.Error(t, err, "Remove returned nil and the image is back")
			require.Len(t, contents(t, image), 50)
		},
	},
}

func openOnly(_ *testing.T, open func() (*Store, error), arm func()) error {
	arm()
	s, err := open()
	if err != nil {
		return err
	}
	return s.Close()
}

func prepareOld(t *testing.T, dir string) {
	s, err := open(dir, Options{}, faultMemTable)
	require.NoError(t, err)
	image := imageOf(t, s, 1, 1)
	commit(t, image, set("is", "old"))
	for n := range 49 {
		commit(t, image, set(fmt.Sprintf("old-%d", n), strings.Repeat("o", 1000)))
	}
	commit(t, imageOf(t, s, 2, 1), set("other", "1"))
	require.NoError(t, s.Close())
}

// newStream returns a stream that a Recover takes in several batches.
func newStream(t *testing.T) []byte {
	var out bytes.Buffer
	w, err := newStreamWriter(&out)
	require.NoError(t, err)
	require.NoError(t, w.record([]byte("is"), []byte("new")))
	for n := range 150 {
		require.NoError(t, w.record([]byte(fmt.Sprintf("new-%03d", n)), bytes.Repeat([]byte{byte(n)}, 4000)))
	}
	require.NoError(t, w.trailer())
	return out.Bytes()
}

// TestEveryFault fails every file-system operation of every step (under the race
// detector a sample of them), once each time and from there on each time. The engine ends the process when it no longer
// knows what is on disk, in a goroutine of its own, so the steps run in children
// of the test: what they left is checked by the child that survived, or by the
// parent.
func TestEveryFault(t *testing.T) {
	if child := os.Getenv(faultChildEnv); child != "" {
		faultChild(t, child)
		return
	}
	for name, c := range faultCases {
		for _, mode := range []string{pebbletest.Once, pebbletest.Ever} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				root := t.TempDir()
				c.prepare(t, faultBase(root))
				runs, crashes, refused := 0, 0, 0
				for first, done := 1, false; !done; {
					var report faultReport
					report, done = faultRun(t, name, mode, first, root)
					runs += (report.last-first)/sample + 1
					refused += report.refused
					if !done {
						crashes++
						checkFault(t, c, root, errCrashed)
					}
					first = report.last + sample
				}
				t.Logf("%d operations failed: %d errors, %d ends of the process", runs-1, refused, crashes)
				require.Greater(t, runs, 20/sample, "nothing was tested")
				require.Positive(t, refused)
			})
		}
	}
}

func faultBase(root string) string { return filepath.Join(root, "base") }
func faultWork(root string) string { return filepath.Join(root, "work") }

// faultReport is what a child has said.
type faultReport struct {
	last    int // the last fault it ran with
	refused int // how many steps returned an error
}

// faultRun runs a child from the first-th fault on. It returns true when the
// child got as far as a fault that was never reached, and false when a fault
// ended it by design. Any other end fails the test.
func faultRun(t *testing.T, name, mode string, first int, root string) (report faultReport, done bool) {
	t.Helper()
	child := pebbletest.Child{Variable: faultChildEnv, Args: fmt.Sprintf("%s %s %d %s", name, mode, first, root)}
	lines, ended := child.Run(t)
	for _, line := range lines {
		var n int
		if _, err := fmt.Sscanf(line, "fault %d", &n); err == nil {
			report.last = n
		}
		if line == "refused" {
			report.refused++
		}
	}
	return report, !ended
}

// faultChild runs one step with one fault after the other until one is not
// reached, and checks what each has left.
func faultChild(t *testing.T, args string) {
	var name, mode, root string
	var first int
	_, err := fmt.Sscan(args, &name, &mode, &first, &root)
	require.NoError(t, err)
	c := faultCases[name]
	for n := first; ; n += sample {
		fmt.Printf("fault %d\n", n)
		work := faultWork(root)
		require.NoError(t, os.RemoveAll(work))
		if _, err := os.Stat(faultBase(root)); err == nil {
			require.NoError(t, os.CopyFS(work, os.DirFS(faultBase(root))))
		}
		injected := pebbletest.NewFault(n, mode)
		fs := injected.On(vfs.Default)
		err := c.step(t, func() (*Store, error) {
			return open(work, Options{FS: fs}, faultMemTable)
		}, injected.Arm)
		if err != nil {
			require.ErrorIs(t, err, syscall.EIO)
			fmt.Println("refused")
		}
		checkFault(t, c, root, err)
		if !injected.Hit() {
			require.NoError(t, err)
			return
		}
	}
}

// checkFault opens what a fault has left, twice, with a disk that is well again.
func checkFault(t *testing.T, c faultCase, root string, err error) {
	t.Helper()
	for range 2 {
		s, openErr := open(faultWork(root), Options{}, faultMemTable)
		require.NoError(t, openErr, "after %v", err)
		onlyNamed(t, s, "the fault")
		c.verify(t, s, err)
		require.NoError(t, s.Close())
	}
}
