package coordinator_test

import (
	"context"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/token"
)

// The directories in testdata/kept were written by earlier versions, each under
// the name of that version: one whose logs are whole, and one whose logs were cut
// off after snapshots. They are never written again. A version that changes a
// format adds its own:
//
//	go test ./coordinator -run '^TestKeptDirectories$' -keep NAME
var keep = flag.String("keep", "", "add directories of this version to testdata/kept, under this name")

// keeperVariable makes the test write directories, under a host name that is
// nobody's: the engine puts it into what it writes.
const keeperVariable = "PALISADE_TEST_KEEPER"

// keptGroups is in the birth certificate of the kept directories, as is all of
// keptConfig but the place.
const keptGroups = 2

func keptConfig(dir string) coordinator.Config {
	return coordinator.Config{Dir: dir, Groups: keptGroups, Epoch: 3}
}

// The parts of a kept directory, and the file with what its node was told.
const (
	keptNode   = "node"
	keptStates = "states.txt"
	keptTokens = "tokens.json"
)

// keptTold is the greatest token that was given out for each key.
type keptTold map[string]token.Token

// TestKeptDirectories opens copies of the directories that earlier versions left.
// What they held is there, and the node goes on from it: what its earlier lives
// held and waited for is swept, and every token is greater than those before.
func TestKeptDirectories(t *testing.T) {
	switch {
	case os.Getenv(keeperVariable) != "":
		require.NoError(t, setHostName("host"))
		keepDirectory(t, filepath.Join("testdata", "kept", *keep, "whole"), 0)
		keepDirectory(t, filepath.Join("testdata", "kept", *keep, "cut"), 8)
		return
	case *keep != "":
		keeper := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-keep="+*keep)
		keeper.Env = append(os.Environ(), keeperVariable+"=yes")
		ownHostName(keeper)
		said, err := keeper.CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	t.Parallel()
	kept, err := filepath.Glob(filepath.Join("testdata", "kept", "*", "*"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(kept), 2)
	for _, dir := range kept {
		name, err := filepath.Rel(filepath.Join("testdata", "kept"), dir)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			t.Run("TheStateIsThere", func(t *testing.T) {
				states, err := os.ReadFile(filepath.Join(dir, keptStates))
				require.NoError(t, err)
				require.Equal(t, string(states), strings.Join(storedIn(t, copyOfKept(t, dir), 1, keptGroups), "\n"))
			})
			t.Run("TheNodeGoesOn", func(t *testing.T) {
				goesOn(t, dir, copyOfKept(t, dir))
			})
			t.Run("TheLogIsThere", func(t *testing.T) {
				node := copyOfKept(t, dir)
				require.NoError(t, os.RemoveAll(filepath.Join(node, "machines")))
				if filepath.Base(dir) == "whole" {
					goesOn(t, dir, node) // all is applied again
					return
				}
				_, err := coordinator.Open(context.Background(), keptConfig(node))
				require.ErrorIs(t, err, coordinator.ErrDirectoryDamaged)
				require.ErrorContains(t, err, "begins after", "the log knows its snapshot")
			})
		})
	}
}

func copyOfKept(t *testing.T, dir string) (node string) {
	t.Helper()
	node = filepath.Join(t.TempDir(), keptNode)
	require.NoError(t, os.CopyFS(node, os.DirFS(filepath.Join(dir, keptNode))))
	return node
}

// goesOn runs a node of a kept directory in node, twice.
func goesOn(t *testing.T, dir, node string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, keptTokens))
	require.NoError(t, err)
	var told keptTold
	require.NoError(t, json.Unmarshal(text, &told))
	require.NotEmpty(t, told)
	text, err = os.ReadFile(filepath.Join(node, "incarnation"))
	require.NoError(t, err)
	before, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	require.NoError(t, err)
	for start := uint64(1); start <= 2; start++ {
		c, err := coordinator.Open(context.Background(), keptConfig(node))
		require.NoError(t, err)
		require.Equal(t, before+start, c.Status().Incarnation)
		for key, last := range told {
			lease, err := c.Acquire(patient(t), key)
			require.NoError(t, err)
			require.Greater(t, lease.Token(), last, "%q", key)
			told[key] = lease.Token()
		}
		require.NoError(t, c.Close())
	}
}

// keepDirectory writes a directory: its node has been closed once, and killed
// while it held keys of both groups and waited for some.
func keepDirectory(t *testing.T, dir string, snapshotEntries uint64) {
	require.NoError(t, os.MkdirAll(filepath.Dir(dir), 0o755))
	require.NoError(t, os.Mkdir(dir, 0o755))
	node, told := filepath.Join(t.TempDir(), keptNode), keptTold{}
	keys := []string{"invoices", "mail", "stock", "index", "{42}:billing", "{42}:export"}
	open := func() (*coordinator.Coordinator, inject.Controls) {
		var controls inject.Controls
		c, err := coordinator.Open(inject.With(context.Background(), inject.Env{
			SnapshotEntries: snapshotEntries, Opened: func(c inject.Controls) { controls = c },
		}), keptConfig(node))
		require.NoError(t, err)
		return c, controls
	}

	c, controls := open()
	groups, cuts := map[int]bool{}, uint64(0)
	cutSoFar := func() {
		for group := range groups {
			cuts += controls.Faults(group).SnapshotsCreated
		}
	}
	for range 4 {
		for _, key := range keys {
			groups[controls.Group(key)] = true
			lease, err := c.Acquire(patient(t), key)
			require.NoError(t, err)
			release(t, lease)
			told[key] = lease.Token()
		}
	}
	require.Len(t, groups, keptGroups)
	cutSoFar()
	require.NoError(t, c.Close())

	c, controls = open()
	lease, err := c.Acquire(patient(t), "stock", coordinator.WithMetadata("which"), coordinator.WithRequestID("r-1"),
		coordinator.WithMaxHold(time.Hour))
	require.NoError(t, err)
	told["stock"] = lease.Token()
	set, err := c.AcquireAll(patient(t), []string{"mail", "index", "invoices", "{42}:billing", "{42}:export"}, coordinator.WithTTL(time.Minute))
	require.NoError(t, err)
	for _, key := range set.Keys() {
		told[key], _ = set.Token(key)
	}
	waiter := make(chan error)
	for range 2 {
		go func() {
			_, err := c.AcquireAll(context.Background(), []string{"stock", "invoices"}, coordinator.WithMetadata("in line"))
			waiter <- err
		}()
	}
	require.Eventually(t, func() bool {
		info, err := c.Inspect(patient(t), "stock")
		require.NoError(t, err)
		return len(info.Waiters) > 0
	}, patience, 10*time.Millisecond)
	cutSoFar()
	require.Equal(t, snapshotEntries > 0, cuts > 0, "%d snapshots", cuts)
	require.NoError(t, controls.Kill())
	require.ErrorIs(t, <-waiter, coordinator.ErrClosed)
	require.ErrorIs(t, <-waiter, coordinator.ErrClosed)

	// Git keeps no empty directories, and the link is made by each start.
	require.NoError(t, os.Remove(filepath.Join(node, "raft", "host")))
	require.NoError(t, filepath.WalkDir(node, func(path string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		require.Zero(t, entry.Type()&^fs.ModeDir, "%s is %v", path, entry.Type())
		return nil
	}))
	require.NoError(t, os.CopyFS(filepath.Join(dir, keptNode), os.DirFS(node)))
	states := strings.Join(storedIn(t, node, 1, keptGroups), "\n")
	require.Contains(t, states, "\nlease ")
	require.Contains(t, states, "\nwait ")
	require.NoError(t, os.WriteFile(filepath.Join(dir, keptStates), []byte(states), 0o644))
	text, err := json.MarshalIndent(told, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, keptTokens), append(text, '\n'), 0o644))
}
