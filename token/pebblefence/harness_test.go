package pebblefence

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

const testDir = "db"

var (
	testPrefix = []byte("fence/")
	seedFlag   = flag.Uint64("seed", 0, "seed of the random tests; 0 draws one")
)

// newRand returns a source, and logs how to have it again.
func newRand(t *testing.T) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("replay with: go test -run '^%s$' -seed=%d", t.Name(), seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// quietLog panics where the engine's own logger ends the process.
type quietLog struct{}

func (quietLog) Infof(string, ...any)  {}
func (quietLog) Errorf(string, ...any) {}
func (quietLog) Fatalf(format string, args ...any) {
	panic(fmt.Errorf(format, args...))
}

// options keeps the engine small and free of goroutines that outlive a test.
func options(fs vfs.FS) *pebble.Options {
	opts := &pebble.Options{FS: fs, Logger: quietLog{}, FormatMajorVersion: pebble.FormatNewest}
	opts.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	return opts
}

// openDB opens a database that the test closes at its end, unless it did.
func openDB(t testing.TB, fs vfs.FS) *pebble.DB {
	t.Helper()
	db, err := pebble.Open(testDir, options(fs))
	require.NoError(t, err)
	t.Cleanup(func() { closeDB(t, db) })
	return db
}

// closeDB closes a database that may be closed.
func closeDB(t testing.TB, db *pebble.DB) {
	defer func() {
		if r := recover(); r != nil {
			require.ErrorIs(t, r.(error), pebble.ErrClosed)
		}
	}()
	require.NoError(t, db.Close())
}

func newGuard(t testing.TB, db *pebble.DB) *Guard {
	t.Helper()
	g, err := New(Config{DB: db, Prefix: testPrefix})
	require.NoError(t, err)
	return g
}

func memGuard(t testing.TB) *Guard {
	t.Helper()
	return newGuard(t, openDB(t, vfs.NewMem()))
}

// put returns a write function that sets one key and returns a value.
func put(key, value string) func(*pebble.Batch) ([]byte, error) {
	return func(b *pebble.Batch) ([]byte, error) {
		return []byte("wrote " + value), b.Set([]byte(key), []byte(value), nil)
	}
}

// read returns what the database holds under the key, "" if nothing.
func read(t testing.TB, db *pebble.DB, key string) string {
	t.Helper()
	value, closer, err := db.Get([]byte(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return ""
	}
	require.NoError(t, err)
	defer closer.Close()
	return string(value)
}

// dump returns every key and value of the database but the guard's id.
func dump(t testing.TB, db *pebble.DB) string {
	t.Helper()
	iter, err := db.NewIter(nil)
	require.NoError(t, err)
	var text strings.Builder
	for ok := iter.First(); ok; ok = iter.Next() {
		if key := string(iter.Key()); key != string(testPrefix)+"\x01" {
			fmt.Fprintf(&text, "%q -> %x\n", key, iter.Value())
		}
	}
	require.NoError(t, iter.Close())
	return text.String()
}

// notes is a list of entries for each resource, as fencetest wants it.
type notes struct {
	*Guard
	fs vfs.FS
}

func (n notes) Append(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return n.Do(ctx, w, n.add(w.Resource, entry))
}

func (n notes) AppendOnce(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	return n.DoOnce(ctx, w, n.add(w.Resource, entry))
}

func (n notes) add(resource, entry string) func(*pebble.Batch) ([]byte, error) {
	return func(b *pebble.Batch) ([]byte, error) {
		list, err := entries(b, resource)
		if err != nil {
			return nil, err
		}
		if err := b.Set(entryKey(resource, len(list)), []byte(entry), nil); err != nil {
			return nil, err
		}
		if strings.HasPrefix(entry, "fail") {
			return nil, errors.New(entry)
		}
		return []byte(strconv.Itoa(len(list) + 1)), nil
	}
}

func (n notes) Entries(_ context.Context, resource string) ([]string, error) {
	return entries(n.store.db, resource)
}

func entryKey(resource string, at int) []byte {
	return []byte(fmt.Sprintf("entry/%x/%06d", resource, at))
}

func entries(from pebble.Reader, resource string) ([]string, error) {
	lower := []byte(fmt.Sprintf("entry/%x/", resource))
	iter, err := from.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: successor(lower)})
	if err != nil {
		return nil, err
	}
	var list []string
	for ok := iter.First(); ok; ok = iter.Next() {
		list = append(list, string(iter.Value()))
	}
	return list, iter.Close()
}
