package objectfence

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// TestALostAnswer: what a guard makes of a PutIf of the pointer whose answer was
// lost, from whether it took effect and what others did since.
func TestALostAnswer(t *testing.T) {
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	others := func(t *testing.T, store *memStore, n int) {
		for i := range n {
			_, err := newGuard(t, store).Do(ctx, token.Write{Resource: "r", Token: 6}, put(fmt.Sprint("other ", i)))
			require.NoError(t, err)
		}
	}
	// start makes a store with some content, or none.
	start := func(t *testing.T, filled bool) *memStore {
		store := newMemStore()
		if filled {
			_, err := newGuard(t, store).Do(ctx, token.Write{Resource: "r", Token: 4}, put("old"))
			require.NoError(t, err)
		}
		return store
	}
	both := func(t *testing.T, test func(t *testing.T, store *memStore)) {
		t.Run("OfTheFirstWrite", func(t *testing.T) { test(t, start(t, false)) })
		t.Run("OfALaterWrite", func(t *testing.T) { test(t, start(t, true)) })
	}
	// spoiled does the write; spoil is for its first PutIf of the pointer.
	spoiled := func(t *testing.T, store *memStore, spoil func(put func() (ETag, error)) (ETag, error)) (token.Receipt, error) {
		store.set(func(put func() (ETag, error)) (ETag, error) {
			store.set(nil)
			return spoil(put)
		})
		return newGuard(t, store).Do(ctx, w, put("new"))
	}
	done := token.Receipt{Token: 5, Value: []byte("wrote new")}

	t.Run("AfterItsEffectIsFound", func(t *testing.T) {
		both(t, func(t *testing.T, store *memStore) {
			puts := 0
			receipt, err := spoiled(t, store, func(put func() (ETag, error)) (ETag, error) {
				_, err := put()
				require.NoError(t, err)
				puts = store.puts
				return Absent, errLost
			})
			require.NoError(t, err)
			require.Equal(t, done, receipt)
			require.Equal(t, puts, store.puts, "it is not done again")
		})
	})
	t.Run("AfterItsEffectIsFoundThoughOthersWroteSince", func(t *testing.T) {
		both(t, func(t *testing.T, store *memStore) {
			receipt, err := spoiled(t, store, func(put func() (ETag, error)) (ETag, error) {
				_, err := put()
				require.NoError(t, err)
				others(t, store, movesMax-1)
				return Absent, errLost
			})
			require.NoError(t, err)
			require.Equal(t, done, receipt)
			require.Equal(t, "other 30", contentOf(t, newGuard(t, store), "r"), "their writes stay")
		})
	})
	t.Run("BeforeItsEffectIsDoneAgain", func(t *testing.T) {
		both(t, func(t *testing.T, store *memStore) {
			receipt, err := spoiled(t, store, func(func() (ETag, error)) (ETag, error) { return Absent, errLost })
			require.NoError(t, err)
			require.Equal(t, done, receipt)
			require.Equal(t, "new", contentOf(t, newGuard(t, store), "r"))
		})
	})
	t.Run("OfARequestThatArrivesLateIsNotDoneTwice", func(t *testing.T) {
		both(t, func(t *testing.T, store *memStore) {
			late := func() (ETag, error) { return Absent, nil }
			receipt, err := spoiled(t, store, func(put func() (ETag, error)) (ETag, error) {
				late = put
				return Absent, errLost
			})
			require.NoError(t, err)
			require.Equal(t, done, receipt)
			_, err = late()
			require.ErrorIs(t, err, ErrChanged, "the second one has moved the pointer")
		})
	})
	t.Run("OfARequestThatArrivesBeforeTheSecondIsFound", func(t *testing.T) {
		both(t, func(t *testing.T, store *memStore) {
			store.set(func(first func() (ETag, error)) (ETag, error) {
				store.set(func(second func() (ETag, error)) (ETag, error) {
					store.set(nil)
					_, err := first()
					require.NoError(t, err)
					return second()
				})
				return Absent, errLost
			})
			receipt, err := newGuard(t, store).Do(ctx, w, put("new"))
			require.NoError(t, err)
			require.Equal(t, done, receipt)
		})
	})
	t.Run("BeforeItsEffectBeginsAgainWhenOthersWroteSince", func(t *testing.T) {
		both(t, func(t *testing.T, store *memStore) {
			_, err := spoiled(t, store, func(func() (ETag, error)) (ETag, error) {
				others(t, store, 1)
				return Absent, errLost
			})
			require.ErrorIs(t, err, token.ErrStale, "the other one's token is greater")
			require.NotErrorIs(t, err, token.ErrUnknown, "for certain it was not done")
			require.Equal(t, "other 0", contentOf(t, newGuard(t, store), "r"))
		})
	})
	t.Run("IsUnknownWhenOthersWroteTooOften", func(t *testing.T) {
		both(t, func(t *testing.T, store *memStore) {
			_, err := spoiled(t, store, func(func() (ETag, error)) (ETag, error) {
				others(t, store, movesMax)
				return Absent, errLost
			})
			require.ErrorIs(t, err, token.ErrUnknown)
			require.ErrorIs(t, err, errLost)
		})
	})
	t.Run("IsUnknownWhenThePointerCantBeRead", func(t *testing.T) {
		for _, answer := range []error{errLost, ErrChanged} {
			store := start(t, true)
			ctx, cancel := context.WithCancel(ctx)
			store.set(func(put func() (ETag, error)) (ETag, error) {
				store.set(nil)
				_, err := put()
				require.NoError(t, err)
				cancel()
				return Absent, answer
			})
			_, err := newGuard(t, store).Do(ctx, w, put("new"))
			require.ErrorIs(t, err, token.ErrUnknown)
			require.ErrorIs(t, err, answer)
			require.ErrorIs(t, err, context.Canceled)
			// As the error says: the same operation again tells.
			receipt, err := newGuard(t, store).Do(context.Background(), w, nothing(t))
			require.NoError(t, err)
			require.Equal(t, token.Receipt{Token: 5, Value: []byte("wrote new"), Repeated: true}, receipt)
		}
	})
	t.Run("IsUnknownAfterThreeTries", func(t *testing.T) {
		store := start(t, true)
		tries := 0
		store.set(func(func() (ETag, error)) (ETag, error) {
			tries++
			return Absent, errLost
		})
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.ErrorIs(t, err, token.ErrUnknown)
		require.ErrorIs(t, err, errLost)
		require.Equal(t, 3, tries)
		require.Equal(t, "old", contentOf(t, newGuard(t, store), "r"))
	})
	t.Run("OfWhichTheSecondIsRefusedIsUnknown", func(t *testing.T) {
		store := start(t, true)
		store.set(func(func() (ETag, error)) (ETag, error) {
			store.set(func(func() (ETag, error)) (ETag, error) { return Absent, ErrRefused })
			return Absent, errLost
		})
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.ErrorIs(t, err, token.ErrUnknown)
		require.ErrorIs(t, err, errLost)
	})
}

func TestAnAnswerThatIsCertain(t *testing.T) {
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	t.Run("RefusedIsReturnedAtOnce", func(t *testing.T) {
		store := newMemStore()
		tries := 0
		store.set(func(func() (ETag, error)) (ETag, error) {
			tries++
			return Absent, ErrRefused
		})
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.ErrorIs(t, err, ErrRefused)
		require.NotErrorIs(t, err, token.ErrUnknown)
		require.Equal(t, 1, tries)
	})
	t.Run("ChangedThoughTheMoveIsThereWasAProxyThatAskedTwice", func(t *testing.T) {
		store := newMemStore()
		store.set(func(put func() (ETag, error)) (ETag, error) {
			store.set(nil)
			_, err := put()
			require.NoError(t, err)
			return put()
		})
		receipt, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 5, Value: []byte("wrote new")}, receipt)
	})
	t.Run("ChangedForNoReasonBeginsAgain", func(t *testing.T) {
		store := newMemStore()
		store.set(func(func() (ETag, error)) (ETag, error) {
			store.set(nil)
			return Absent, ErrChanged
		})
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.NoError(t, err)
		require.Equal(t, "new", contentOf(t, newGuard(t, store), "r"))
	})
	t.Run("ChangedForEverEndsWithTheContext", func(t *testing.T) {
		store := newMemStore()
		lost := errors.New("the lease is lost")
		ctx, cancel := context.WithCancelCause(ctx)
		tries := 0
		store.set(func(func() (ETag, error)) (ETag, error) {
			if tries++; tries == 4 {
				// The move was refused, so nothing is unknown; but the pointer
				// can't be read any more to see that.
				defer cancel(lost)
			}
			return Absent, ErrChanged
		})
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, lost)
	})
}

// versionStore spoils the PutIf of the first version.
type versionStore struct {
	*memStore
	spoil func(put func() (ETag, error)) (ETag, error)
}

func (s *versionStore) PutIf(ctx context.Context, name Name, body []byte, match ETag) (ETag, error) {
	if spoil := s.spoil; spoil != nil && name != PointerName("r") {
		s.spoil = nil
		return spoil(func() (ETag, error) { return s.memStore.PutIf(ctx, name, body, match) })
	}
	return s.memStore.PutIf(ctx, name, body, match)
}

func TestAVersionWhoseAnswer(t *testing.T) {
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	t.Run("WasLostIsNoWrite", func(t *testing.T) {
		store := &versionStore{newMemStore(), func(put func() (ETag, error)) (ETag, error) {
			_, err := put()
			require.NoError(t, err)
			return Absent, errLost
		}}
		g := newGuard(t, store)
		_, err := g.Do(ctx, w, put("new"))
		require.ErrorIs(t, err, errLost)
		require.NotErrorIs(t, err, token.ErrUnknown, "nothing points to it")
		require.Empty(t, contentOf(t, g, "r"))
		receipt, err := g.Do(ctx, w, put("new"))
		require.NoError(t, err)
		require.False(t, receipt.Repeated)
	})
	t.Run("SaysChangedThoughItIsThereWasAProxyThatAskedTwice", func(t *testing.T) {
		store := &versionStore{newMemStore(), func(put func() (ETag, error)) (ETag, error) {
			_, err := put()
			require.NoError(t, err)
			return put()
		}}
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.NoError(t, err)
	})
	t.Run("SaysChangedAndOtherwiseIsNoWrite", func(t *testing.T) {
		store := &versionStore{newMemStore(), func(func() (ETag, error)) (ETag, error) { return Absent, ErrChanged }}
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.ErrorIs(t, err, ErrChanged)
	})
}

func TestPausesGrowToABound(t *testing.T) {
	require.Equal(t, pauseMin, pauseAfter(0))
	require.Equal(t, 2*pauseMin, pauseAfter(1))
	for _, try := range []int{7, 8, 63, 64, 1 << 30} {
		require.Equal(t, pauseMax, pauseAfter(try), try)
	}
}
