package pebblefence

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestAWriteFunction(t *testing.T) {
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}

	t.Run("ReadsWhatIsThereAndWhatItWrote", func(t *testing.T) {
		g := memGuard(t)
		require.NoError(t, g.store.db.Set([]byte("balance"), []byte("7"), nil))
		_, err := g.Do(ctx, w, func(b *pebble.Batch) ([]byte, error) {
			value, closer, err := b.Get([]byte("balance"))
			require.NoError(t, err)
			require.Equal(t, "7", string(value))
			require.NoError(t, closer.Close())
			require.NoError(t, b.Set([]byte("balance"), []byte("8"), nil))
			value, closer, err = b.Get([]byte("balance"))
			require.NoError(t, err)
			require.Equal(t, "8", string(value))
			return nil, closer.Close()
		})
		require.NoError(t, err)
		require.Equal(t, "8", read(t, g.store.db, "balance"))
	})
	t.Run("MustBeThere", func(t *testing.T) {
		_, err := memGuard(t).Do(ctx, w, nil)
		require.ErrorIs(t, err, token.ErrInvalid)
		require.ErrorContains(t, err, "nil write")
	})
	t.Run("MayWriteNothing", func(t *testing.T) {
		g := memGuard(t)
		receipt, err := g.Do(ctx, w, func(*pebble.Batch) ([]byte, error) { return nil, nil })
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 5}, receipt)
		again, err := g.Do(ctx, w, nothing(t))
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 5, Repeated: true}, again)
	})
	t.Run("GivesNoAndAnEmptyValueAlike", func(t *testing.T) {
		receipt, err := memGuard(t).Do(ctx, w, func(*pebble.Batch) ([]byte, error) { return []byte{}, nil })
		require.NoError(t, err)
		require.Nil(t, receipt.Value)
	})
	t.Run("MayUseItsValueAfterwards", func(t *testing.T) {
		g := memGuard(t)
		value := []byte("first")
		receipt, err := g.Do(ctx, w, func(*pebble.Batch) ([]byte, error) { return value, nil })
		require.NoError(t, err)
		copy(value, "other")
		require.Equal(t, "first", string(receipt.Value))
	})
	t.Run("MayReturnALongValueButNoLonger", func(t *testing.T) {
		g := memGuard(t)
		returns := func(length int) func(*pebble.Batch) ([]byte, error) {
			return func(b *pebble.Batch) ([]byte, error) {
				return make([]byte, length), b.Set([]byte("data"), []byte("x"), nil)
			}
		}
		before := dump(t, g.store.db)
		for _, w := range []token.Write{w, {Resource: "r", Token: 5}} {
			_, err := g.Do(ctx, w, returns(65537))
			require.ErrorIs(t, err, ErrTooLarge)
			require.ErrorContains(t, err, "65537 bytes, at most 65536")
			require.Equal(t, before, dump(t, g.store.db))
		}
		_, err := g.Do(ctx, w, returns(65536))
		require.NoError(t, err)
		again, err := g.Do(ctx, w, nothing(t))
		require.NoError(t, err)
		require.Len(t, again.Value, 65536)
	})
	t.Run("MayFillABatchThatIsLargerThanAMemtable", func(t *testing.T) {
		mem := vfs.NewCrashableMem()
		g := newGuard(t, openDB(t, mem))
		_, err := g.Do(ctx, w, func(b *pebble.Batch) ([]byte, error) {
			return []byte("large"), b.Set([]byte("data"), make([]byte, 8<<20), nil)
		})
		require.NoError(t, err)
		g = newGuard(t, openDB(t, mem.CrashClone(vfs.CrashCloneCfg{})))
		require.Len(t, read(t, g.store.db, "data"), 8<<20)
		again, err := g.Do(ctx, w, nothing(t))
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 5, Value: []byte("large"), Repeated: true}, again)
	})
}

// nothing is a write function that must not be called.
func nothing(t *testing.T) func(*pebble.Batch) ([]byte, error) {
	return func(*pebble.Batch) ([]byte, error) {
		t.Error("the write function was called")
		return nil, nil
	}
}

// TestAWriteThatDoesNotEndWellLeavesNothing: and its resource's turn is given
// on, and the same operation may be tried again.
func TestAWriteThatDoesNotEndWellLeavesNothing(t *testing.T) {
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	failed := errors.New("failed")
	for name, end := range map[string]func() error{
		"AnError": func() error { return failed },
		"APanic":  func() error { panic(failed) },
		"APanicOfTheEngine": func() error {
			panic(pebble.ErrClosed) // of another database; not ours to catch
		},
		"AnExit": func() error { runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			g := memGuard(t)
			before := dump(t, g.store.db)
			var err error
			var panicked any
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer func() { panicked = recover() }()
				_, err = g.Do(ctx, w, func(b *pebble.Batch) ([]byte, error) {
					if err := b.Set([]byte("data"), []byte("half"), nil); err != nil {
						return nil, err
					}
					return nil, end()
				})
			}()
			<-ended
			switch name {
			case "AnError":
				require.Equal(t, failed, err, "as it was")
			case "APanic":
				require.Equal(t, failed, panicked)
			case "APanicOfTheEngine":
				require.Equal(t, pebble.ErrClosed, panicked)
			}
			require.Equal(t, before, dump(t, g.store.db))
			require.Zero(t, g.turns.Callers("r"))
			// A lower token may come: nothing of this one was kept.
			receipt, err := g.Do(ctx, token.Write{Resource: "r", Token: 4, Operation: "o"}, put("data", "whole"))
			require.NoError(t, err)
			require.False(t, receipt.Repeated)
			require.Equal(t, "whole", read(t, g.store.db, "data"))
		})
	}
}

// TestABatchThatWasKeptWritesNothingElse: the engine hands batches that were
// closed to its next callers. A kept one must never be the next write's.
func TestABatchThatWasKeptWritesNothingElse(t *testing.T) {
	g := memGuard(t)
	ctx := context.Background()
	failed := errors.New("failed")
	for _, end := range []error{nil, failed} {
		var kept *pebble.Batch
		_, err := g.Do(ctx, token.Write{Resource: "r", Token: 5}, func(b *pebble.Batch) ([]byte, error) {
			kept = b
			return nil, end
		})
		require.Equal(t, end, err)
		for range 20 {
			_, err := g.Do(ctx, token.Write{Resource: "r", Token: 5}, func(b *pebble.Batch) ([]byte, error) {
				require.NotSame(t, kept, b)
				if end == nil {
					// The engine sees the misuse of one that was committed.
					require.Panics(t, func() { _ = kept.Set([]byte("stowaway"), nil, nil) })
					return nil, nil
				}
				return nil, kept.Set([]byte("stowaway"), nil, nil)
			})
			require.NoError(t, err)
		}
	}
	require.NotContains(t, dump(t, g.store.db), "stowaway")
}

func TestABatchThatTheWriteFunctionCommits(t *testing.T) {
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	for name, size := range map[string]int{"Small": 1, "LargerThanAMemtable": 8 << 20} {
		t.Run(name, func(t *testing.T) {
			for _, failed := range []error{nil, errors.New("failed")} {
				g := memGuard(t)
				_, err := g.Do(ctx, w, func(b *pebble.Batch) ([]byte, error) {
					require.NoError(t, b.Set([]byte("data"), []byte(strings.Repeat("x", size)), nil))
					require.NoError(t, b.Commit(pebble.NoSync))
					return nil, failed
				})
				require.ErrorIs(t, err, ErrCommitted)
				if failed != nil {
					require.ErrorIs(t, err, failed)
				}
				require.Len(t, read(t, g.store.db, "data"), size, "it is there, as the error says")
				highest, err := g.Highest(ctx, "r")
				require.NoError(t, err)
				require.Zero(t, highest)
			}
		})
	}
}
