package pebblefence

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// operationsOf does n operations, named from 0 on.
func operationsOf(t *testing.T, g *Guard, resource string, n int) {
	t.Helper()
	for i := range n {
		receipt, err := g.Do(context.Background(), named(resource, i), put("last "+resource, fmt.Sprint(i)))
		require.NoError(t, err)
		require.False(t, receipt.Repeated)
	}
}

func named(resource string, i int) token.Write {
	return token.Write{Resource: resource, Token: 5, Operation: token.Operation(fmt.Sprint(i))}
}

// remembered says whether the i-th operation is, without doing anything.
func remembered(t *testing.T, g *Guard, resource string, i int) bool {
	t.Helper()
	asked := fmt.Errorf("not remembered")
	receipt, err := g.Do(context.Background(), named(resource, i), func(*pebble.Batch) ([]byte, error) { return nil, asked })
	if err != nil {
		require.Equal(t, asked, err)
		return false
	}
	require.Equal(t, token.Receipt{Token: 5, Value: []byte(fmt.Sprint("wrote ", i)), Repeated: true}, receipt)
	return true
}

// records counts the guard's records of operations, by kind.
func records(t *testing.T, g *Guard, kind byte) int {
	t.Helper()
	lower := append(append([]byte{}, g.keys.prefix...), kind)
	iter, err := g.store.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: successor(lower)})
	require.NoError(t, err)
	count := 0
	for ok := iter.First(); ok; ok = iter.Next() {
		count++
	}
	require.NoError(t, iter.Close())
	return count
}

func TestTheOldestOperationIsForgottenFirst(t *testing.T) {
	g, err := New(Config{DB: openDB(t, vfs.NewMem()), Prefix: testPrefix, OperationsMax: 3})
	require.NoError(t, err)
	operationsOf(t, g, "other", 2)
	operationsOf(t, g, "r", 3)
	require.True(t, remembered(t, g, "r", 0), "three are remembered")
	operationsOf(t, g, "r", 0)
	_, err = g.Do(context.Background(), named("r", 3), put("last r", "3"))
	require.NoError(t, err)
	for i, want := range []bool{false, true, true, true} {
		require.Equal(t, want, remembered(t, g, "r", i), i)
	}
	require.True(t, remembered(t, g, "other", 0), "each resource has its own memory")
	require.Equal(t, 5, records(t, g, kindOperation))
	require.Equal(t, 5, records(t, g, kindNumber))

	t.Run("AndThenIsDoneAgain", func(t *testing.T) {
		receipt, err := g.Do(context.Background(), named("r", 0), put("last r", "again"))
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 5, Value: []byte("wrote again")}, receipt)
		require.Equal(t, "again", read(t, g.store.db, "last r"))
	})
	t.Run("UnlessItsTokenIsStale", func(t *testing.T) {
		require.NoError(t, g.Accept(context.Background(), token.Write{Resource: "r", Token: 6}))
		_, err := g.Do(context.Background(), named("r", 1), nothing(t))
		require.ErrorIs(t, err, token.ErrStale)
	})
	t.Run("ButNotByWritesWithoutAnOperation", func(t *testing.T) {
		for range 5 {
			_, err := g.Do(context.Background(), token.Write{Resource: "other", Token: 5}, put("x", "x"))
			require.NoError(t, err)
		}
		require.True(t, remembered(t, g, "other", 0))
	})
	t.Run("NorByOneThatFails", func(t *testing.T) {
		before := dump(t, g.store.db)
		for i := range 5 {
			require.False(t, remembered(t, g, "other", 100+i))
		}
		require.Equal(t, before, dump(t, g.store.db))
	})
}

func TestAThousandOperationsAreRememberedByDefault(t *testing.T) {
	g := memGuard(t)
	operationsOf(t, g, "r", 1001)
	require.False(t, remembered(t, g, "r", 0))
	require.True(t, remembered(t, g, "r", 1))
	require.Equal(t, 1000, records(t, g, kindOperation))
}

func TestALoweredMemoryShrinksByAThousandAWrite(t *testing.T) {
	db := openDB(t, vfs.NewMem())
	g, err := New(Config{DB: db, Prefix: testPrefix, OperationsMax: 2500})
	require.NoError(t, err)
	operationsOf(t, g, "r", 2500)
	g, err = New(Config{DB: db, Prefix: testPrefix, OperationsMax: 10})
	require.NoError(t, err)
	for i, want := range []int{1501, 502, 10, 10} {
		_, err := g.Do(context.Background(), named("r", 2500+i), put("x", "x"))
		require.NoError(t, err)
		require.Equal(t, want, records(t, g, kindOperation))
		require.Equal(t, want, records(t, g, kindNumber))
	}
}

func TestForget(t *testing.T) {
	ctx := context.Background()
	db := openDB(t, vfs.NewMem())
	g, err := New(Config{DB: db, Prefix: testPrefix, OperationsMax: 3000})
	require.NoError(t, err)
	operationsOf(t, g, "r", 2100)
	operationsOf(t, g, "other", 1)

	t.Run("RefusesANegativeNumberAndBadNames", func(t *testing.T) {
		_, err := g.Forget(ctx, "r", -1)
		require.ErrorIs(t, err, token.ErrInvalid)
		for _, resource := range []string{"", strings.Repeat("r", token.ResourceBytesMax+1), "a\x00"} {
			_, err := g.Forget(ctx, resource, 1)
			require.ErrorIs(t, err, token.ErrInvalid)
			_, err = g.Highest(ctx, resource)
			require.ErrorIs(t, err, token.ErrInvalid)
		}
	})
	t.Run("KeepsTheNewest", func(t *testing.T) {
		forgotten, err := g.Forget(ctx, "r", 2)
		require.NoError(t, err)
		require.Equal(t, 2098, forgotten)
		require.True(t, remembered(t, g, "r", 2098))
		require.True(t, remembered(t, g, "r", 2099))
		require.False(t, remembered(t, g, "r", 2097))
		require.Equal(t, 3, records(t, g, kindOperation))
		require.Equal(t, 3, records(t, g, kindNumber))
	})
	t.Run("LeavesTheFenceAndOtherResources", func(t *testing.T) {
		highest, err := g.Highest(ctx, "r")
		require.NoError(t, err)
		require.EqualValues(t, 5, highest)
		require.True(t, remembered(t, g, "other", 0))
	})
	t.Run("WithNothingToForgetWritesNothing", func(t *testing.T) {
		written := db.Metrics().WAL.BytesIn
		for _, resource := range []string{"r", "nobody"} {
			forgotten, err := g.Forget(ctx, resource, 2)
			require.NoError(t, err)
			require.Zero(t, forgotten)
		}
		require.Equal(t, written, db.Metrics().WAL.BytesIn)
	})
	t.Run("StopsAtADamagedRecord", func(t *testing.T) {
		require.NoError(t, db.Delete(g.keys.number("r", 2099), pebble.Sync))
		_, err := g.Forget(ctx, "r", 0)
		require.ErrorIs(t, err, ErrDamaged)
	})
}
