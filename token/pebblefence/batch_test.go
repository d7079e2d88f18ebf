package pebblefence

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// TestABatchMustLeaveTheGuardsKeysAlone: the prefix is "fence/", and the first
// key after it "fence0".
func TestABatchMustLeaveTheGuardsKeysAlone(t *testing.T) {
	ctx := context.Background()
	key := func(s string) []byte { return []byte(s) }
	type fill = func(b *pebble.Batch) error
	refused := map[string]fill{
		"Set":               func(b *pebble.Batch) error { return b.Set(key("fence/x"), nil, nil) },
		"SetOfThePrefix":    func(b *pebble.Batch) error { return b.Set(key("fence/"), nil, nil) },
		"SetDeferred":       func(b *pebble.Batch) error { copy(b.SetDeferred(7, 0).Key, "fence/x"); return nil },
		"Merge":             func(b *pebble.Batch) error { return b.Merge(key("fence/x"), key("v"), nil) },
		"Delete":            func(b *pebble.Batch) error { return b.Delete(key("fence/x"), nil) },
		"DeleteSized":       func(b *pebble.Batch) error { return b.DeleteSized(key("fence/x"), 3, nil) },
		"SingleDelete":      func(b *pebble.Batch) error { return b.SingleDelete(key("fence/x"), nil) },
		"DeleteRange":       func(b *pebble.Batch) error { return b.DeleteRange(key("a"), key("z"), nil) },
		"DeleteRangeInside": func(b *pebble.Batch) error { return b.DeleteRange(key("fence/a"), key("fence/b"), nil) },
		"DeleteRangeOfTheFirstKey": func(b *pebble.Batch) error {
			return b.DeleteRange(key("a"), key("fence/\x00"), nil)
		},
		"DeleteRangeOfTheLastKey": func(b *pebble.Batch) error {
			return b.DeleteRange(key("fence/\xff\xff"), key("z"), nil)
		},
		"RangeKeySet":    func(b *pebble.Batch) error { return b.RangeKeySet(key("a"), key("z"), nil, key("v"), nil) },
		"RangeKeyUnset":  func(b *pebble.Batch) error { return b.RangeKeyUnset(key("a"), key("z"), nil, nil) },
		"RangeKeyDelete": func(b *pebble.Batch) error { return b.RangeKeyDelete(key("a"), key("z"), nil) },
		"AnotherBatch": func(b *pebble.Batch) error {
			var other pebble.Batch
			if err := other.Delete(key("fence/x"), nil); err != nil {
				return err
			}
			return b.Apply(&other, nil)
		},
		"OneOfMany": func(b *pebble.Batch) error {
			for n := range 1000 {
				if err := b.Set([]byte{'k', byte(n), byte(n >> 8)}, nil, nil); err != nil {
					return err
				}
			}
			return b.Delete(key("fence/x"), nil)
		},
		"ABatchThatWasClosed": func(b *pebble.Batch) error { return b.Close() },
		"ARepresentationWithAWrongCount": func(b *pebble.Batch) error {
			var other pebble.Batch
			if err := other.Set(key("k"), key("v"), nil); err != nil {
				return err
			}
			repr := append([]byte(nil), other.Repr()...)
			repr[8] = 2
			return b.SetRepr(repr)
		},
	}
	for name, fill := range refused {
		t.Run(name+"IsRefused", func(t *testing.T) {
			g := memGuard(t)
			before := dump(t, g.store.db)
			_, err := g.Do(ctx, token.Write{Resource: "r", Token: 5, Operation: "o"}, func(b *pebble.Batch) ([]byte, error) {
				return nil, fill(b)
			})
			require.ErrorIs(t, err, ErrBatch)
			require.Equal(t, before, dump(t, g.store.db))
			_, err = g.Do(ctx, token.Write{Resource: "r", Token: 4, Operation: "o"}, put("data", "x"))
			require.NoError(t, err, "nothing was kept")
		})
	}
	allowed := map[string]fill{
		"ASetBeside":     func(b *pebble.Batch) error { return b.Set(key("fence0"), key("v"), nil) },
		"ASetBelow":      func(b *pebble.Batch) error { return b.Set(key("fence"), key("v"), nil) },
		"AMerge":         func(b *pebble.Batch) error { return b.Merge(key("k"), key("v"), nil) },
		"ADelete":        func(b *pebble.Batch) error { return b.Delete(key("k"), nil) },
		"ASingleDelete":  func(b *pebble.Batch) error { return b.SingleDelete(key("k"), nil) },
		"ADeleteSized":   func(b *pebble.Batch) error { return b.DeleteSized(key("k"), 3, nil) },
		"ARangeBelow":    func(b *pebble.Batch) error { return b.DeleteRange(key("a"), key("fence/"), nil) },
		"ARangeAbove":    func(b *pebble.Batch) error { return b.DeleteRange(key("fence0"), key("z"), nil) },
		"ARangeKeyAbove": func(b *pebble.Batch) error { return b.RangeKeySet(key("fence0"), key("z"), nil, key("v"), nil) },
		"LogData":        func(b *pebble.Batch) error { return b.LogData(key("fence/x"), nil) },
	}
	for name, fill := range allowed {
		t.Run(name+"IsTaken", func(t *testing.T) {
			g := memGuard(t)
			_, err := g.Do(ctx, token.Write{Resource: "r", Token: 5}, func(b *pebble.Batch) ([]byte, error) {
				return nil, fill(b)
			})
			require.NoError(t, err)
		})
	}
}

func TestUnknownKindsOfEntriesAreRefused(t *testing.T) {
	keys := newKeyspace(testPrefix)
	for _, kind := range []pebble.InternalKeyKind{
		pebble.InternalKeyKindIngestSST, pebble.InternalKeyKindExcise, pebble.InternalKeyKindMax, pebble.InternalKeyKindInvalid,
	} {
		require.ErrorIs(t, keys.checkEntry(kind, []byte("k"), []byte("v")), ErrBatch, "%s", kind)
	}
	err := keys.checkEntry(pebble.InternalKeyKindRangeKeySet, []byte("k"), nil)
	require.ErrorIs(t, err, ErrBatch, "an end that can't be read")
}
