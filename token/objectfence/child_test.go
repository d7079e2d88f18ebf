package objectfence

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// childEnv makes the test binary a child of a test here. Its value is "add
// directory child" or "end directory step after".
const childEnv = "OBJECTFENCE_TEST_CHILD"

const (
	children    = 4
	additions   = 25
	endedByPlan = 77 // the status of a child that ended at its step
)

func childCommand(args ...any) *exec.Cmd {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childEnv+"="+fmt.Sprintln(args...))
	command.Stderr = os.Stderr
	return command
}

// child is the whole of a child process. It returns its status.
func child(args string) int {
	var what, dir string
	var a, b int
	if _, err := fmt.Sscan(args, &what, &dir, &a, &b); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := map[string]func(string, int, int) error{"add": addChild, "end": endChild}[what](dir, a, b); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// addChild adds one to a number, additions times, each under an operation.
func addChild(dir string, number, _ int) error {
	store, err := OpenFileStore(dir)
	if err != nil {
		return err
	}
	g, err := New(Config{Store: store})
	if err != nil {
		return err
	}
	for n := range additions {
		w := token.Write{Resource: "count", Token: 5, Operation: token.Operation(fmt.Sprintf("%d of %d", n, number))}
		receipt, err := g.Do(context.Background(), w, func(_ context.Context, old []byte) (Update, error) {
			count := 0
			if old != nil {
				var err error
				if count, err = strconv.Atoi(string(old)); err != nil {
					return Update{}, err
				}
			}
			return Update{Body: []byte(strconv.Itoa(count + 1))}, nil
		})
		if err != nil || receipt.Repeated {
			return fmt.Errorf("addition %d: %v, %w", n, receipt, err)
		}
	}
	return nil
}

// TestProcessesLoseNoUpdateOfOneDirectory: four processes add to one number, as
// fast as they can, while this one reads it.
func TestProcessesLoseNoUpdateOfOneDirectory(t *testing.T) {
	dir := t.TempDir()
	g := newGuard(t, openFiles(t, dir))
	ended := make(chan error, children)
	for number := range children {
		command := childCommand("add", dir, number, 0)
		require.NoError(t, command.Start())
		go func() { ended <- command.Wait() }()
	}
	last := 0
	for running := children; running > 0; {
		content, err := g.Current(context.Background(), "count")
		require.NoError(t, err, "a reader sees whole objects")
		if content.Body != nil {
			count, err := strconv.Atoi(string(content.Body))
			require.NoError(t, err)
			require.GreaterOrEqual(t, count, last)
			last = count
		}
		select {
		case err := <-ended:
			require.NoError(t, err)
			running--
		default:
		}
	}
	require.Equal(t, strconv.Itoa(children*additions), contentOf(t, g, "count"))
}

// endChild replaces an object and ends at one of its steps.
func endChild(dir string, step, after int) error {
	store, err := OpenFileStore(dir)
	if err != nil {
		return err
	}
	store.disk = &faultDisk{disk: store.disk, n: step, after: after == 1, then: func() { os.Exit(endedByPlan) }}
	_, err = store.PutIf(context.Background(), "a", []byte("new"), fileETag([]byte("old")))
	return err
}

// TestAProcessEndsAtEveryStep: the next one finds the old or the new object,
// whole, and no lock.
func TestAProcessEndsAtEveryStep(t *testing.T) {
	ctx := context.Background()
	for after := range 2 {
		found := map[string]int{}
		for step := 1; ; step++ {
			dir := t.TempDir()
			store := openFiles(t, dir)
			_, err := store.PutIf(ctx, "a", []byte("old"), Absent)
			require.NoError(t, err)
			command := childCommand("end", dir, step, after)
			err = command.Run()
			if err == nil {
				require.Greater(t, step, 8, "every step was reached")
				break
			}
			require.Equal(t, endedByPlan, command.ProcessState.ExitCode(), "%v", err)
			object, err := store.Get(ctx, "a")
			require.NoError(t, err)
			require.Contains(t, []string{"old", "new"}, string(object.Body))
			found[string(object.Body)]++
			_, err = store.PutIf(ctx, "a", []byte("next"), object.ETag)
			require.NoError(t, err)
		}
		require.Positive(t, found["old"])
		require.Positive(t, found["new"])
	}
}
