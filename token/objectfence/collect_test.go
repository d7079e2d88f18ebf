package objectfence

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestCollect(t *testing.T) {
	ctx := context.Background()
	store := newMemStore()
	g := newGuard(t, store)
	garbage, err := g.Collect(ctx, "r", []Name{VersionPrefix("r") + "x"})
	require.NoError(t, err)
	require.Empty(t, garbage, "of a resource without a pointer nothing is known")
	for _, body := range []string{"one", "two", "three"} {
		for _, resource := range []string{"r", "s"} {
			_, err := g.Do(ctx, token.Write{Resource: resource, Token: 5}, put(body))
			require.NoError(t, err)
		}
	}

	t.Run("ReturnsTheOldVersionsOfTheResource", func(t *testing.T) {
		before := store.objects[PointerName("r")]
		garbage, err := g.Collect(ctx, "r", store.names(""))
		require.NoError(t, err)
		require.Len(t, garbage, 2)
		for _, name := range garbage {
			require.Contains(t, string(name), string(VersionPrefix("r")))
			require.NotEqual(t, "three", string(store.objects[name].Body))
			store.remove(name)
		}
		require.NotEqual(t, before.ETag, store.objects[PointerName("r")].ETag, "the pointer was moved")
		require.Equal(t, "three", contentOf(t, g, "r"))
		require.Len(t, store.names(VersionPrefix("s")), 3)
	})
	t.Run("DoesNotReturnTheVersionOfAWriteThatStillPoints", func(t *testing.T) {
		// A writer has made its version; before it moves the pointer, its
		// version is listed, collected and deleted.
		collected := 0
		store.set(func(put func() (ETag, error)) (ETag, error) {
			store.set(nil)
			garbage, err := newGuard(t, store).Collect(ctx, "r", store.names(VersionPrefix("r")))
			require.NoError(t, err)
			for _, name := range garbage {
				store.remove(name)
				collected++
			}
			return put()
		})
		asked := 0
		receipt, err := g.Do(ctx, token.Write{Resource: "r", Token: 5}, func(ctx context.Context, old []byte) (Update, error) {
			asked++
			return put("four")(ctx, old)
		})
		require.NoError(t, err)
		require.Equal(t, "wrote four", string(receipt.Value))
		require.Equal(t, 1, collected)
		require.Equal(t, 2, asked, "it began again, with another version")
		require.Equal(t, "four", contentOf(t, g, "r"))
	})
	t.Run("LetsAReaderReadAgain", func(t *testing.T) {
		late := &lateStore{memStore: store, before: func() {
			_, err := newGuard(t, store).Do(ctx, token.Write{Resource: "r", Token: 5}, put("five"))
			require.NoError(t, err)
			garbage, err := newGuard(t, store).Collect(ctx, "r", store.names(VersionPrefix("r")))
			require.NoError(t, err)
			for _, name := range garbage {
				store.remove(name)
			}
		}}
		require.Equal(t, "five", contentOf(t, newGuard(t, late), "r"))
	})
	t.Run("LetsAWriterReadAgain", func(t *testing.T) {
		late := &lateStore{memStore: store, before: func() {
			_, err := newGuard(t, store).Do(ctx, token.Write{Resource: "r", Token: 5}, put("six"))
			require.NoError(t, err)
			garbage, err := newGuard(t, store).Collect(ctx, "r", store.names(VersionPrefix("r")))
			require.NoError(t, err)
			for _, name := range garbage {
				store.remove(name)
			}
		}}
		var given []string
		_, err := newGuard(t, late).Do(ctx, token.Write{Resource: "r", Token: 5}, func(ctx context.Context, old []byte) (Update, error) {
			given = append(given, string(old))
			return put("seven")(ctx, old)
		})
		require.NoError(t, err)
		require.Equal(t, []string{"six"}, given)
	})
}

// lateStore does something before it gets the first version.
type lateStore struct {
	*memStore
	before func()
}

func (s *lateStore) Get(ctx context.Context, name Name) (Object, error) {
	if s.before != nil && slices.Contains(s.memStore.names(VersionPrefix("r")), name) {
		before := s.before
		s.before = nil
		before()
	}
	return s.memStore.Get(ctx, name)
}
