package pebblestore

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

func TestCommit(t *testing.T) {
	t.Run("RecordsBeyondTheLimitsAreRefusedWhole", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		image := imageOf(t, s, 1, 1)
		long := statemachine.Record{Key: make([]byte, KeyBytesMax+1), Value: []byte{}}
		big := statemachine.Record{Key: []byte("b"), Value: make([]byte, ValueBytesMax+1)}
		require.ErrorIs(t, image.Commit([]statemachine.Record{set("a", "1"), long}), ErrTooLarge)
		require.ErrorIs(t, image.Commit([]statemachine.Record{set("a", "1"), big}), ErrTooLarge)
		require.True(t, image.Empty())

		long.Key, big.Value = long.Key[:KeyBytesMax], big.Value[:ValueBytesMax]
		commit(t, image, long, big)
		other := imageOf(t, s, 1, 2)
		require.NoError(t, other.Recover(bytes.NewReader(stream(t, image)), nil))
		require.Equal(t, contents(t, image), contents(t, other), "the limits of a record fit the stream")
	})
	t.Run("KeepsNoReferenceToTheCallersBytes", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		image := imageOf(t, s, 1, 1)
		record := set("key", "value")
		commit(t, image, record)
		copy(record.Key, "xxx")
		copy(record.Value, "xxxxx")
		require.Equal(t, map[string]string{"key": "value"}, contents(t, image))
	})
	t.Run("TheLastRecordOfAKeyWins", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		image := imageOf(t, s, 1, 1)
		commit(t, image, set("a", "1"), del("a"), set("a", "2"), set("b", "1"), del("b"))
		require.Equal(t, map[string]string{"a": "2"}, contents(t, image))
	})
	t.Run("NoRecordsMakeNoImage", func(t *testing.T) {
		s := openAt(t, vfs.NewMem())
		commit(t, imageOf(t, s, 1, 1))
		require.Len(t, rawKeys(t, s), 1, "only the format record")
	})
}

func TestEach(t *testing.T) {
	s := openAt(t, vfs.NewMem())
	image := imageOf(t, s, 1, 1)
	for _, key := range []string{"c", "a", "d", "b"} {
		commit(t, image, set(key, "v"+key))
	}
	t.Run("GoesInTheOrderOfKeys", func(t *testing.T) {
		var keys, values [][]byte
		require.NoError(t, image.Each(func(key, value []byte) error {
			keys, values = append(keys, bytes.Clone(key)), append(values, bytes.Clone(value))
			return nil
		}))
		require.Equal(t, "a b c d", string(bytes.Join(keys, []byte(" "))))
		require.Equal(t, "va vb vc vd", string(bytes.Join(values, []byte(" "))))
	})
	t.Run("EndsWithTheErrorOfItsFunction", func(t *testing.T) {
		enough, calls := errors.New("enough of it"), 0
		require.ErrorIs(t, image.Each(func([]byte, []byte) error {
			calls++
			return enough
		}), enough)
		require.Equal(t, 1, calls)
	})
	t.Run("DoesNotSeeWhatItsFunctionCommits", func(t *testing.T) {
		calls := 0
		require.NoError(t, image.Each(func(key, _ []byte) error {
			calls++
			return image.Commit([]statemachine.Record{set(string(key)+"2", "new"), del("d")})
		}))
		require.Equal(t, 4, calls)
		require.Len(t, contents(t, image), 7)
	})
	t.Run("APanicOfItsFunctionLeavesTheStoreUsable", func(t *testing.T) {
		require.PanicsWithValue(t, "mine", func() {
			_ = image.Each(func([]byte, []byte) error { panic("mine") })
		})
		commit(t, image, set("z", "1"))
	})
}

func TestSuccessorIsAboveEveryKeyWithThePrefix(t *testing.T) {
	for _, prefix := range []string{"\x00", "\x03\x00", "\x03\xff", "\x03\xff\xff\x00", "\x03\x01\xff\xff"} {
		next := string(successor([]byte(prefix)))
		require.Greater(t, next, prefix+"\xff\xff\xff\xff\xff\xff")
		require.False(t, len(next) > len(prefix))
		// There is nothing in between that does not have the prefix.
		below := []byte(next)
		below[len(below)-1]--
		require.Equal(t, prefix[:len(below)], string(below))
	}
}
