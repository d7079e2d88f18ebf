package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/coordinator/internal/raftnode/disktest/kerneltest"
	"github.com/palisade-go/palisade/token"
)

// errandVariable makes the test binary a child that runs an errand. Its value is
// the fault and the directory to work in.
const errandVariable = "PALISADE_TEST_ERRAND"

// errandConfig is of a node on its own, in a directory whose parent is missing
// too.
func errandConfig(root string) coordinator.Config {
	return coordinator.Config{Dir: filepath.Join(root, "above", "node"), Groups: 2}
}

// The notes of an errand, each followed by its particulars.
const (
	noteOpened   = "opened"   // incarnation
	noteGranted  = "granted"  // key, token
	noteReleased = "released" // key, token
	noteRefused  = "refused"  // error
	noteClosed   = "closed"
)

// errand is a node that works on a disk that is watched.
type errand struct {
	watch *kerneltest.Watch
	node  *coordinator.Coordinator
	held  []*coordinator.Lease
}

// runErrand is the child. It is over with the first error that the node returns.
func runErrand(args string) error {
	var fault kerneltest.Fault
	var dir string
	if _, err := fmt.Sscan(args, &fault.At, &fault.Only, &fault.Ever, &fault.With, &dir); err != nil {
		return err
	}
	root := filepath.Join(dir, "root")
	journal, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		return err
	}
	e := &errand{}
	if e.watch, err = kerneltest.Start(root, journal, fault); err != nil {
		return err
	}
	// Few entries between snapshots, so that the log is cut off too.
	ctx := inject.With(context.Background(), inject.Env{SnapshotEntries: 8})
	for range 2 {
		if err := e.run(ctx, errandConfig(root)); err != nil {
			e.watch.Note("%s %v", noteRefused, err)
			return nil
		}
	}
	return nil
}

// run opens the node, takes and gives back keys, and closes it.
func (e *errand) run(ctx context.Context, cfg coordinator.Config) (err error) {
	if e.node, err = coordinator.Open(ctx, cfg); err != nil {
		return err
	}
	e.watch.Note("%s %d", noteOpened, e.node.Status().Incarnation)
	e.held = nil
	for round := range 6 {
		if err := e.round(ctx, round); err != nil {
			return errors.Join(err, e.node.Close())
		}
	}
	if err := e.node.Close(); err != nil {
		return err
	}
	e.watch.Note(noteClosed)
	return nil
}

// errandKeys are what the errand is about: some are in the same group.
var errandKeys = []string{"stock", "invoices", "mail"}

func (e *errand) round(ctx context.Context, round int) error {
	ctx, cancel := context.WithTimeout(ctx, errandPatience)
	defer cancel()
	key := errandKeys[round%len(errandKeys)]
	lease, err := e.node.Acquire(ctx, key)
	if err != nil {
		return err
	}
	e.watch.Note("%s %s %d", noteGranted, key, lease.Token())
	if _, err := e.node.Acquire(ctx, key, coordinator.WithWait(time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("a key that is held: %w", err)
	}
	if round >= 2*len(errandKeys)-1 {
		e.held = append(e.held, lease) // it ends with the node
		return nil
	}
	if err := lease.Release(ctx); err != nil {
		return err
	}
	e.watch.Note("%s %s %d", noteReleased, key, lease.Token())
	return nil
}

// errandPatience is how long a call of an errand may take, far above what it needs.
// errandMax is how long the whole may.
const (
	errandPatience = time.Minute
	errandMax      = 3 * time.Minute
)

// errandResult is how an errand went.
type errandResult struct {
	journal []kerneltest.Operation
	ended   error // of the process
	said    string
}

// sendErrand runs an errand in a child.
func sendErrand(t *testing.T, fault kerneltest.Fault) errandResult {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "root"), 0o700))
	ctx, cancel := context.WithTimeout(context.Background(), errandMax)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestErrand$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %t %d %s", errandVariable, fault.At, int(fault.Only), fault.Ever, fault.With, dir))
	said, err := cmd.CombinedOutput()
	require.NoError(t, ctx.Err(), "%+v: the process hangs:\n%s", fault, said)
	f, openErr := os.Open(filepath.Join(dir, "journal"))
	require.NoError(t, openErr)
	defer f.Close()
	journal, readErr := kerneltest.ReadJournal(f)
	require.NoError(t, readErr)
	require.NoError(t, os.RemoveAll(dir))
	return errandResult{journal, err, string(said)}
}

// TestErrand is the child, and by itself an errand on a disk without faults.
func TestErrand(t *testing.T) {
	if args := os.Getenv(errandVariable); args != "" {
		if err := runErrand(args); err != nil {
			fmt.Fprintln(os.Stderr, "errand:", err)
			os.Exit(1)
		}
		os.Exit(0) // its watch can't be ended
	}
	t.Parallel()
	r := sendErrand(t, kerneltest.Fault{})
	require.NoError(t, r.ended, "%s", r.said)
	var done done
	for _, o := range r.journal {
		done.note(t, o)
		require.Zero(t, o.Failed, "%v", o)
	}
	require.EqualValues(t, 2, done.incarnation)
	require.Equal(t, 2, done.closed)
	require.Equal(t, 12, done.grants)
	require.Empty(t, done.refused)
}

// done is what a caller of the node knows at some moment of an errand.
type done struct {
	incarnation uint64
	highest     map[string]token.Token // of a key that was granted
	grants      int
	closed      int
	refused     string
}

// note takes an operation of the journal into account.
func (d *done) note(t *testing.T, o kerneltest.Operation) {
	t.Helper()
	if o.Kind != kerneltest.Note {
		return
	}
	var what, key string
	var tok token.Token
	_, err := fmt.Sscan(o.To, &what)
	require.NoError(t, err)
	switch what {
	case noteOpened:
		_, err = fmt.Sscan(o.To, &what, &d.incarnation)
	case noteGranted:
		var number uint64
		_, err = fmt.Sscan(o.To, &what, &key, &number)
		tok = token.Token(number)
		require.Greater(t, tok, d.highest[key])
		if d.highest == nil {
			d.highest = make(map[string]token.Token)
		}
		d.highest[key] = tok
		d.grants++
	case noteClosed:
		d.closed++
	case noteRefused:
		d.refused = o.To
	}
	require.NoError(t, err, o.To)
}

// kept opens a node on what was left of an errand, and checks that nothing that
// a caller knew of is lost, and that it works.
func (d done) kept(t *testing.T, root string, why string) {
	t.Helper()
	cfg := errandConfig(root)
	ctx := patient(t)
	c, err := coordinator.Open(ctx, cfg)
	require.NoError(t, err, why)
	require.Greater(t, c.Status().Incarnation, d.incarnation, why)
	for _, key := range errandKeys {
		lease, err := c.Acquire(ctx, key)
		require.NoError(t, err, why)
		require.Greater(t, lease.Token(), d.highest[key], "%s: the token of %q", why, key)
		require.NoError(t, lease.Release(ctx), why)
	}
	require.NoError(t, c.Close(), why)
}
