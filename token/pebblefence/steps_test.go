package pebblefence

import (
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

const smallMemTable = 64 << 10

func openSmall(dir string, fs vfs.FS) (*pebble.DB, error) {
	opts := options(fs)
	opts.MemTableSize = smallMemTable
	return pebble.Open(dir, opts)
}

func stepsGuard(db *pebble.DB) (*Guard, error) {
	return New(Config{DB: db, Prefix: testPrefix, OperationsMax: 3})
}

// A step is one change of the database, which is there whole or not at all.
type step func(g *Guard) error

// steps are a short life of a guard. Each may be done again: it then changes
// nothing.
func steps() []step {
	ctx := context.Background()
	entry := func(t token.Token, operation token.Operation, text string) step {
		return func(g *Guard) error {
			_, err := notes{Guard: g}.Append(ctx, token.Write{Resource: "r", Token: t, Operation: operation}, text)
			return err
		}
	}
	return []step{
		entry(5, "o1", "first"),
		entry(5, "o2", "second"),
		func(g *Guard) error { return g.Accept(ctx, token.Write{Resource: "r", Token: 7}) },
		entry(7, "o3", "third"),
		entry(8, "o1", "a repetition, which raises the fence"),
		entry(8, "o4", "forgets o1"),
		entry(8, "o5", strings.Repeat("larger than a memtable", 5000)),
		entry(9, "o6", strings.Repeat("half a memtable", 1500)),
		entry(9, "o7", strings.Repeat("the other half", 1500)),
		entry(9, "o8", "after a rotation"),
		func(g *Guard) error { _, err := g.Forget(ctx, "r", 1); return err },
		func(g *Guard) error { return g.Accept(ctx, token.Write{Resource: "other", Token: 1}) },
	}
}

// states are the dumps of the database before the first step and after each.
func states(t *testing.T) []string {
	t.Helper()
	db, err := openSmall(testDir, vfs.NewMem())
	require.NoError(t, err)
	defer db.Close()
	g, err := stepsGuard(db)
	require.NoError(t, err)
	all := []string{dump(t, db)}
	for _, step := range steps() {
		require.NoError(t, step(g))
		all = append(all, dump(t, db))
		require.NotEqual(t, all[len(all)-2], all[len(all)-1], "a step that changes nothing shows nothing")
	}
	return all
}

// checkLeft opens what a crash or a fault has left: it must be what some steps
// have made, at least low of them and at most high. Then the steps that may be
// missing are done again. It returns how many there were.
func checkLeft(t *testing.T, db *pebble.DB, all []string, low, high int, at string) int {
	t.Helper()
	found := -1
	now := dump(t, db)
	if now == "" && low == 0 {
		now = all[0] // New was not finished
	}
	for n := low; n <= high; n++ {
		if now == all[n] {
			found = n
		}
	}
	require.NotEqual(t, -1, found, "%s: not what %d to %d steps make:\n%.500s", at, low, high, now)
	g, err := stepsGuard(db)
	require.NoError(t, err, at)
	if high > 0 {
		// The one whose answer was lost is repeated by whoever did it.
		require.NoError(t, steps()[high-1](g), at)
	}
	require.Equal(t, all[high], dump(t, db), at)
	return found
}
