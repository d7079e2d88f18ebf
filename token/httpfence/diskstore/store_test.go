package diskstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/fencetest"
	"github.com/palisade-go/palisade/token/httpfence"
	"github.com/palisade-go/palisade/token/httpfence/internal/storetest"
)

const testDir = "/fences"

func openStore(t testing.TB, dir string, cfg Config) *Store {
	t.Helper()
	s, err := Open(dir, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestStoreIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) httpfence.Store {
		return openStore(t, testDir, Config{OperationsMax: storetest.OperationsMax, fs: vfs.NewMem()})
	})
}

// TestMiddlewareKeepsTheRulesOfAllGuardsAlsoAfterARestart is the whole way with
// a disk at its end: Transport, TCP, Guard, Store.
func TestMiddlewareKeepsTheRulesOfAllGuardsAlsoAfterARestart(t *testing.T) {
	type opened struct {
		dir   string
		store *Store
	}
	all := map[fencetest.Guard]opened{}
	open := func(t *testing.T, dir string, service *storetest.Lists) fencetest.Guard {
		store := openStore(t, dir, Config{})
		g := storetest.Serve(t, store, service)
		all[g] = opened{dir, store}
		return g
	}
	traits := fencetest.Traits{
		KeepsFenceOfFailedWrite: true, Steps: fencetest.StepsMin, // each is a request and up to two syncs
		Reopen: func(t *testing.T, g fencetest.Guard) fencetest.Guard {
			service := g.(*storetest.GuardedLists).Stop()
			require.NoError(t, all[g].store.Close())
			return open(t, all[g].dir, service)
		},
	}
	fencetest.Run(t, traits, func(t *testing.T) fencetest.Guard { return open(t, t.TempDir(), &storetest.Lists{}) })
}

func TestEverythingSurvivesARestart(t *testing.T) {
	ctx, dir := context.Background(), filepath.Join(t.TempDir(), "made", "if missing")
	s := openStore(t, dir, Config{OperationsMax: 3})
	records := map[token.Operation]*httpfence.Record{
		"begun": storetest.Begun(5, 1), "answered": storetest.Answered(6, 2), "omitted": storetest.Omitted(7, 3),
	}
	for operation, record := range records {
		require.NoError(t, s.Save(ctx, "a", httpfence.Change{Highest: 7, Operation: operation, Record: record}))
	}
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "a second time is no error")

	s = openStore(t, dir, Config{OperationsMax: 3})
	for operation, record := range records {
		kept, err := s.Load(ctx, "a", operation)
		require.NoError(t, err)
		require.Equal(t, httpfence.Kept{Highest: 7, Record: record}, kept)
	}
	require.NoError(t, s.Close())

	t.Run("AndALowerBoundForgetsTheOldestWithTheNext", func(t *testing.T) {
		s := openStore(t, dir, Config{OperationsMax: 1})
		require.NoError(t, s.Save(ctx, "a", httpfence.Change{Operation: "next", Record: storetest.Begun(7, 4)}))
		for operation := range records {
			kept, err := s.Load(ctx, "a", operation)
			require.NoError(t, err)
			require.Equal(t, httpfence.Kept{Highest: 7}, kept)
		}
		require.Len(t, keysOf(t, s), 4, "format, fence, one operation, its number")
	})
}

// keysOf returns every key of the store.
func keysOf(t testing.TB, s *Store) []string {
	t.Helper()
	iter, err := s.db.NewIter(nil)
	require.NoError(t, err)
	var keys []string
	for ok := iter.First(); ok; ok = iter.Next() {
		keys = append(keys, string(iter.Key()))
	}
	require.NoError(t, iter.Close())
	return keys
}

func TestDiskStaysWithinItsBound(t *testing.T) {
	ctx := context.Background()
	s := openStore(t, testDir, Config{OperationsMax: 5, fs: vfs.NewMem()})
	for i := range 500 {
		operation := token.Operation(fmt.Sprint(i))
		require.NoError(t, s.Save(ctx, "a", httpfence.Change{Highest: 1, Operation: operation, Record: storetest.Begun(1, 1)}))
		if i%7 == 0 {
			require.NoError(t, s.Save(ctx, "a", httpfence.Change{Operation: operation}))
		}
		require.LessOrEqual(t, len(keysOf(t, s)), 2+2*5)
	}
	require.NoError(t, s.Save(ctx, "unknown", httpfence.Change{Operation: "x"}))
	require.LessOrEqual(t, len(keysOf(t, s)), 2+2*5, "to forget what is not known leaves nothing")
}

func TestOpenSaysWhyItCannot(t *testing.T) {
	t.Run("InUse", func(t *testing.T) {
		dir := t.TempDir()
		openStore(t, dir, Config{})
		_, err := Open(dir, Config{})
		require.ErrorIs(t, err, ErrInUse)
		require.ErrorContains(t, err, dir)
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(dir, link))
		_, err = Open(link, Config{})
		require.ErrorIs(t, err, ErrInUse, "by another name")
	})
	t.Run("BoundsOfConfig", func(t *testing.T) {
		for _, n := range []int{-1, OperationsLimit + 1} {
			_, err := Open(testDir, Config{OperationsMax: n, fs: vfs.NewMem()})
			require.ErrorIs(t, err, token.ErrInvalid)
		}
		openStore(t, testDir, Config{OperationsMax: OperationsLimit, fs: vfs.NewMem()})
		require.Equal(t, 1_000_000, OperationsLimit)
		require.EqualValues(t, 1000, openStore(t, testDir, Config{fs: vfs.NewMem()}).max, "the default")
	})
	for name, value := range map[string]string{
		"NoMark": "", "AnotherMark": "SOMEBODY\x00\x01", "ALaterVersion": "PALHTTPF\x00\x02",
		"ALongMark": "PALHTTPF\x00\x01\x00",
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			db, err := pebble.Open(testDir, &pebble.Options{FS: fs, Logger: engineLog{}})
			require.NoError(t, err)
			require.NoError(t, db.Set([]byte("something"), nil, pebble.Sync))
			if value != "" {
				require.NoError(t, db.Set(formatKey(), []byte(value), pebble.Sync))
			}
			require.NoError(t, db.Close())
			_, err = Open(testDir, Config{fs: fs})
			require.ErrorIs(t, err, ErrFormat)
		})
	}
}

func TestClosedStoreReturnsAnError(t *testing.T) {
	s := openStore(t, testDir, Config{fs: vfs.NewMem()})
	require.NoError(t, s.Close())
	_, err := s.Load(context.Background(), "a", "")
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, s.Save(context.Background(), "a", httpfence.Change{Highest: 1}), ErrClosed)
}

func TestDamagedRecordIsNeverGuessed(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	s := openStore(t, testDir, Config{fs: fs})
	save := func(resource string) {
		require.NoError(t, s.Save(ctx, resource, httpfence.Change{Highest: 5, Operation: "op", Record: storetest.Answered(5, 1)}))
	}
	for _, key := range [][]byte{fenceKey("a"), operationKey("a", "op")} {
		save("a")
		value, closer, err := s.db.Get(key)
		require.NoError(t, err)
		whole := append([]byte(nil), value...)
		require.NoError(t, closer.Close())
		for i := range whole {
			damaged := append([]byte(nil), whole...)
			damaged[i] ^= 0x40
			require.NoError(t, s.db.Set(key, damaged, pebble.NoSync))
			_, err := s.Load(ctx, "a", "op")
			require.ErrorIs(t, err, ErrDamaged, "byte %d of key %q", i, key)
			change := httpfence.Change{Highest: 9, Operation: "op", Record: storetest.Begun(9, 1)}
			require.ErrorIs(t, s.Save(ctx, "a", change), ErrDamaged)
			require.NoError(t, s.db.Set(key, whole[:i], pebble.NoSync))
			_, err = s.Load(ctx, "a", "op")
			require.ErrorIs(t, err, ErrDamaged, "cut to %d bytes", i)
		}
		require.NoError(t, s.db.Set(key, whole, pebble.NoSync))
		_, err = s.Load(ctx, "a", "op")
		require.NoError(t, err)
	}
	// One resource's fence is not another's.
	save("b")
	value, closer, err := s.db.Get(fenceKey("b"))
	require.NoError(t, err)
	require.NoError(t, s.db.Set(fenceKey("c"), value, pebble.NoSync))
	require.NoError(t, closer.Close())
	_, err = s.Load(ctx, "c", "")
	require.ErrorIs(t, err, ErrDamaged)
}
