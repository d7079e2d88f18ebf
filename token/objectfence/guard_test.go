package objectfence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestEveryProblemOfAConfigIsReportedAtOnce(t *testing.T) {
	_, err := New(Config{OperationsMax: -1})
	require.ErrorIs(t, err, token.ErrInvalid)
	require.ErrorContains(t, err, "Store is nil")
	require.ErrorContains(t, err, "OperationsMax is -1, not 0 to 128")
	_, err = New(Config{Store: newMemStore(), OperationsMax: 129})
	require.ErrorContains(t, err, "OperationsMax is 129")
}

func TestAChange(t *testing.T) {
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}

	t.Run("MustBeThere", func(t *testing.T) {
		_, err := newGuard(t, newMemStore()).Do(ctx, w, nil)
		require.ErrorIs(t, err, token.ErrInvalid)
		require.ErrorContains(t, err, "nil change")
	})
	t.Run("IsGivenNilFirstAndThenWhatIsThere", func(t *testing.T) {
		g := newGuard(t, newMemStore())
		var given [][]byte
		for _, body := range []string{"", "two", "three"} {
			_, err := g.Do(ctx, token.Write{Resource: "r", Token: 5}, func(_ context.Context, old []byte) (Update, error) {
				given = append(given, old)
				return Update{Body: []byte(body)}, nil
			})
			require.NoError(t, err)
		}
		require.Equal(t, [][]byte{nil, {}, []byte("two")}, given)
		content, err := g.Current(ctx, "r")
		require.NoError(t, err)
		require.Equal(t, Content{Body: []byte("three"), Token: 5}, content)
	})
	t.Run("IsGivenTheContextOfItsCaller", func(t *testing.T) {
		type key struct{}
		ctx := context.WithValue(ctx, key{}, 7)
		_, err := newGuard(t, newMemStore()).Do(ctx, w, func(ctx context.Context, _ []byte) (Update, error) {
			require.Equal(t, 7, ctx.Value(key{}))
			return Update{}, nil
		})
		require.NoError(t, err)
	})
	t.Run("MayAlterWhatItIsGivenAndReturned", func(t *testing.T) {
		g := newGuard(t, newMemStore())
		value := []byte("first")
		receipt, err := g.Do(ctx, w, func(context.Context, []byte) (Update, error) {
			return Update{Body: value, Value: value}, nil
		})
		require.NoError(t, err)
		copy(value, "other")
		require.Equal(t, "first", string(receipt.Value))
		_, err = g.Do(ctx, token.Write{Resource: "r", Token: 5}, func(_ context.Context, old []byte) (Update, error) {
			copy(old, "wrong")
			return Update{}, errors.New("no")
		})
		require.Error(t, err)
		require.Equal(t, "first", contentOf(t, g, "r"))
	})
	t.Run("MayReturnSoMuchAndNoMore", func(t *testing.T) {
		store := newMemStore()
		g := newGuard(t, store)
		returns := func(u Update) func(context.Context, []byte) (Update, error) {
			return func(context.Context, []byte) (Update, error) { return u, nil }
		}
		for _, w := range []token.Write{w, {Resource: "r", Token: 5}} {
			_, err := g.Do(ctx, w, returns(Update{Value: make([]byte, ValueBytesMax+1)}))
			require.ErrorIs(t, err, ErrTooLarge)
			_, err = g.Do(ctx, w, returns(Update{Body: make([]byte, ObjectBytesMax+1)}))
			require.ErrorIs(t, err, ErrTooLarge)
		}
		require.Empty(t, store.names(""), "nothing was written")
		_, err := g.Do(ctx, w, returns(Update{Value: make([]byte, ValueBytesMax)}))
		require.NoError(t, err)
	})
	failed := errors.New("failed")
	for name, end := range map[string]func() error{
		"AnError": func() error { return failed },
		"APanic":  func() error { panic(failed) },
		"AnExit":  func() error { runtime.Goexit(); return nil },
	} {
		t.Run("ThatEndsBy"+name+"LeavesNothing", func(t *testing.T) {
			store := newMemStore()
			g := newGuard(t, store)
			var err error
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer func() {
					if r := recover(); r != nil {
						err = r.(error)
					}
				}()
				_, err = g.Do(ctx, w, func(context.Context, []byte) (Update, error) { return Update{}, end() })
			}()
			<-ended
			if name != "AnExit" {
				require.Equal(t, failed, err, "as it was")
			}
			require.Empty(t, store.names(""))
		})
	}
}

func TestTheOldestOperationIsForgottenFirst(t *testing.T) {
	ctx := context.Background()
	for max, limit := range map[int]int{0: OperationsDefault, 3: 3, OperationsLimit: OperationsLimit} {
		g, err := New(Config{Store: newMemStore(), OperationsMax: max})
		require.NoError(t, err)
		for n := range limit + 1 {
			w := token.Write{Resource: "r", Token: 5, Operation: token.Operation(fmt.Sprint(n))}
			receipt, err := g.Do(ctx, w, put(fmt.Sprint(n)))
			require.NoError(t, err)
			require.False(t, receipt.Repeated)
		}
		receipt, err := g.Do(ctx, token.Write{Resource: "r", Token: 5, Operation: "1"}, nothing(t))
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 5, Value: []byte("wrote 1"), Repeated: true}, receipt)
		receipt, err = g.Do(ctx, token.Write{Resource: "r", Token: 5, Operation: "0"}, put("again"))
		require.NoError(t, err)
		require.False(t, receipt.Repeated)
	}
}

func TestWhatChangesNothingPutsNothing(t *testing.T) {
	ctx := context.Background()
	store := newMemStore()
	g := newGuard(t, store)
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	_, err := g.Do(ctx, w, put("x"))
	require.NoError(t, err)
	puts := store.puts
	_, err = g.Do(ctx, w, nothing(t))
	require.NoError(t, err)
	require.NoError(t, g.Accept(ctx, token.Write{Resource: "r", Token: 5}))
	require.ErrorIs(t, g.Accept(ctx, token.Write{Resource: "r", Token: 4}), token.ErrStale)
	_, err = g.DoOnce(ctx, token.Write{Resource: "r", Token: 5}, nothing(t))
	require.ErrorIs(t, err, token.ErrStale)
	require.Equal(t, puts, store.puts)
}

// TestWritersOfOneProcessMakeNoVersionInVain: they take turns, and the context
// ends the wait for one.
func TestWritersOfOneProcessMakeNoVersionInVain(t *testing.T) {
	ctx := context.Background()
	store := newMemStore()
	g := newGuard(t, store)
	const writers = 20
	ended := make(chan error)
	_, err := g.Do(ctx, token.Write{Resource: "r", Token: 5}, func(context.Context, []byte) (Update, error) {
		for range writers {
			go func() {
				_, err := g.Do(ctx, token.Write{Resource: "r", Token: 5}, add("entry"))
				ended <- err
			}()
		}
		late, cancel := context.WithCancel(ctx)
		cancel()
		require.ErrorIs(t, g.Accept(late, token.Write{Resource: "r", Token: 9}), context.Canceled)
		highest, err := g.Highest(ctx, "r")
		require.NoError(t, err, "who reads does not wait")
		require.Zero(t, highest)
		return Update{}, nil
	})
	require.NoError(t, err)
	for range writers {
		require.NoError(t, <-ended)
	}
	require.Len(t, store.names(VersionPrefix("r")), 1+writers)
	require.Zero(t, g.turns.Callers("r"))
}

func TestAResourceThatWasNeverWritten(t *testing.T) {
	ctx := context.Background()
	g := newGuard(t, newMemStore())
	content, err := g.Current(ctx, "r")
	require.NoError(t, err)
	require.Equal(t, Content{}, content)
	require.NoError(t, g.Accept(ctx, token.Write{Resource: "r", Token: 5}))
	content, err = g.Current(ctx, "r")
	require.NoError(t, err)
	require.Equal(t, Content{Token: 5}, content)
	for _, bad := range []string{"", "a\x00", string(bytes.Repeat([]byte("r"), token.ResourceBytesMax+1))} {
		_, err := g.Current(ctx, bad)
		require.ErrorIs(t, err, token.ErrInvalid)
		_, err = g.Highest(ctx, bad)
		require.ErrorIs(t, err, token.ErrInvalid)
		_, err = g.Collect(ctx, bad, nil)
		require.ErrorIs(t, err, token.ErrInvalid)
	}
}

func TestADamagedObjectLetsNobodyIn(t *testing.T) {
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 9, Operation: "o"}
	for name, damage := range map[string]func(s *memStore){
		"APointerThatIsCut": func(s *memStore) {
			object := s.objects[PointerName("r")]
			object.Body = object.Body[:len(object.Body)-1]
			s.objects[PointerName("r")] = object
		},
		"APointerOfAnotherResource": func(s *memStore) { s.objects[PointerName("r")] = s.objects[PointerName("s")] },
		"AVersionWithABitFlipped":   func(s *memStore) { s.objects[s.names(VersionPrefix("r"))[0]].Body[0] ^= 1 },
		"AVersionThatIsCut": func(s *memStore) {
			s.objects[s.names(VersionPrefix("r"))[0]] = Object{Body: []byte("firs"), ETag: "x"}
		},
		"AVersionThatIsLost": func(s *memStore) { s.remove(s.names(VersionPrefix("r"))[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemStore()
			g := newGuard(t, store)
			for _, resource := range []string{"r", "s"} {
				w := w
				w.Resource = resource
				_, err := g.Do(ctx, w, put("first"))
				require.NoError(t, err)
			}
			damage(store)
			puts := store.puts
			_, err := g.Do(ctx, token.Write{Resource: "r", Token: 9}, nothing(t))
			require.ErrorIs(t, err, ErrDamaged)
			_, err = g.Current(ctx, "r")
			require.ErrorIs(t, err, ErrDamaged)
			require.Equal(t, puts, store.puts)
			require.Equal(t, "first", contentOf(t, g, "s"), "others go on")
		})
	}
}
