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
	"github.com/palisade-go/palisade/transport"
)

// errandVariable makes the test binary a child that runs an errand. Its value is
// the fault and the directory to work in.
const errandVariable = "PALISADE_TEST_ERRAND"

// errandConfig is of one of size nodes, in a directory whose parent is missing
// too. They are reached in memory.
func errandConfig(root string, size, number int) coordinator.Config {
	cfg := coordinator.Config{Dir: filepath.Join(root, "above", fmt.Sprintf("node-%d", number)), Groups: 2}
	if size == 1 {
		return cfg
	}
	cfg.Cluster, cfg.NodeID, cfg.Peers = "errand", coordinator.NodeID(number), make(map[coordinator.NodeID]string)
	for n := 1; n <= size; n++ {
		cfg.Peers[coordinator.NodeID(n)] = fmt.Sprintf("node-%d:7400", n)
	}
	cfg.ElectionTimeout, cfg.TLS = 500*time.Millisecond, transport.Insecure
	return cfg
}

// The notes of an errand, each followed by its particulars.
const (
	noteOpened   = "opened"   // node, incarnation
	noteGranted  = "granted"  // key, token
	noteReleased = "released" // key, token
	noteRefused  = "refused"  // error
	noteClosed   = "closed"
)

// errand is a cluster that works on disks that are watched.
type errand struct {
	size  int
	watch *kerneltest.Watch
	nodes []*coordinator.Coordinator
	held  []*coordinator.Lease
}

// runErrand is the child. It is over with the first error that a node returns.
func runErrand(args string) error {
	var fault kerneltest.Fault
	var dir string
	e := &errand{}
	if _, err := fmt.Sscan(args, &e.size, &fault.At, &fault.Only, &fault.Ever, &fault.With, &dir); err != nil {
		return err
	}
	root := filepath.Join(dir, "root")
	journal, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		return err
	}
	if e.watch, err = kerneltest.Start(root, journal, fault); err != nil {
		return err
	}
	for range 2 {
		if err := e.run(root); err != nil {
			e.watch.Note("%s %v", noteRefused, err)
			return nil
		}
	}
	return nil
}

// openErrand opens all nodes of an errand. On failure those that are open stay.
func openErrand(size int, root func(number int) string) (nodes []*coordinator.Coordinator, err error) {
	network := transport.NewMemory(1)
	// Few entries between snapshots, so that the log is cut off too.
	ctx := inject.With(context.Background(), inject.Env{SnapshotEntries: 8, Network: network.Join})
	for number := 1; number <= size; number++ {
		node, err := coordinator.Open(ctx, errandConfig(root(number), size, number))
		if err != nil {
			return nodes, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func closeErrand(nodes []*coordinator.Coordinator) (err error) {
	for _, node := range nodes {
		err = errors.Join(err, node.Close())
	}
	return err
}

// run opens the nodes, takes and gives back keys, and closes them.
func (e *errand) run(root string) (err error) {
	e.nodes, err = openErrand(e.size, func(int) string { return root })
	if err != nil {
		return errors.Join(err, closeErrand(e.nodes))
	}
	for i, node := range e.nodes {
		e.watch.Note("%s %d %d", noteOpened, i+1, node.Status().Incarnation)
	}
	e.held = nil
	for round := range errandRounds {
		if err := e.round(e.nodes[round%e.size], round); err != nil {
			return errors.Join(err, closeErrand(e.nodes))
		}
	}
	if err := closeErrand(e.nodes); err != nil {
		return err
	}
	e.watch.Note(noteClosed)
	return nil
}

// errandRounds is how many keys are taken before the nodes are closed.
const errandRounds = 6

// errandKeys are what the errand is about: some are in the same group.
var errandKeys = []string{"stock", "invoices", "mail"}

func (e *errand) round(node *coordinator.Coordinator, round int) error {
	ctx, cancel := context.WithTimeout(context.Background(), errandPatience)
	defer cancel()
	key := errandKeys[round%len(errandKeys)]
	lease, err := node.Acquire(ctx, key)
	if err != nil {
		return err
	}
	e.watch.Note("%s %s %d", noteGranted, key, lease.Token())
	if _, err := node.Acquire(ctx, key, coordinator.WithWait(time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("a key that is held: %w", err)
	}
	if round == errandRounds-1 {
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
func sendErrand(t *testing.T, size int, fault kerneltest.Fault) errandResult {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "root"), 0o700))
	ctx, cancel := context.WithTimeout(context.Background(), errandMax)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestErrand$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d %t %d %s", errandVariable, size, fault.At, int(fault.Only), fault.Ever, fault.With, dir))
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
	r := sendErrand(t, 1, kerneltest.Fault{})
	require.NoError(t, r.ended, "%s", r.said)
	done := newDone()
	for _, o := range r.journal {
		done.note(t, o)
		require.Zero(t, o.Failed, "%v", o)
	}
	require.EqualValues(t, 2, done.incarnations[1])
	require.Equal(t, 2, done.closed)
	require.Equal(t, 2*errandRounds, done.grants)
	require.Empty(t, done.refused)
}

// done is what a caller of the node knows at some moment of an errand.
type done struct {
	incarnations map[int]uint64         // of a node that was opened
	highest      map[string]token.Token // of a key that was granted
	grants       int
	closed       int
	refused      string
}

func newDone() *done {
	return &done{incarnations: make(map[int]uint64), highest: make(map[string]token.Token)}
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
		var number int
		var incarnation uint64
		_, err = fmt.Sscan(o.To, &what, &number, &incarnation)
		require.Greater(t, incarnation, d.incarnations[number])
		d.incarnations[number] = incarnation
	case noteGranted:
		var number uint64
		_, err = fmt.Sscan(o.To, &what, &key, &number)
		tok = token.Token(number)
		require.Greater(t, tok, d.highest[key])
		d.highest[key] = tok
		d.grants++
	case noteClosed:
		d.closed++
	case noteRefused:
		d.refused = o.To
	}
	require.NoError(t, err, o.To)
}

// kept opens the nodes on what was left of an errand, and checks that nothing
// that a caller knew of is lost, and that they work.
func (d *done) kept(t *testing.T, size int, root func(number int) string, why string) {
	t.Helper()
	ctx := patient(t)
	nodes, err := openErrand(size, root)
	require.NoError(t, err, why)
	for i, node := range nodes {
		require.Greater(t, node.Status().Incarnation, d.incarnations[i+1], "%s: node %d", why, i+1)
	}
	for i, key := range errandKeys {
		lease, err := nodes[i%size].Acquire(ctx, key)
		require.NoError(t, err, why)
		require.Greater(t, lease.Token(), d.highest[key], "%s: the token of %q", why, key)
		require.NoError(t, lease.Release(ctx), why)
	}
	require.NoError(t, closeErrand(nodes), why)
}
