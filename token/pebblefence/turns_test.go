package pebblefence

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// inside starts a write of the resource and returns when its write function
// runs; end lets it end and waits for that.
func inside(t *testing.T, g *Guard, resource string) (end func()) {
	begun, free, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_, err := g.Do(context.Background(), token.Write{Resource: resource, Token: 5}, func(*pebble.Batch) ([]byte, error) {
			close(begun)
			<-free
			return nil, nil
		})
		if err != nil {
			t.Error(err)
		}
	}()
	<-begun
	return func() {
		close(free)
		<-ended
	}
}

func TestTheContextEndsTheWaitForATurn(t *testing.T) {
	g := memGuard(t)
	end := inside(t, g, "r")
	for name, call := range map[string]func(ctx context.Context) error{
		"Do": func(ctx context.Context) error {
			_, err := g.Do(ctx, token.Write{Resource: "r", Token: 9}, nothing(t))
			return err
		},
		"Accept":  func(ctx context.Context) error { return g.Accept(ctx, token.Write{Resource: "r", Token: 9}) },
		"Highest": func(ctx context.Context) error { _, err := g.Highest(ctx, "r"); return err },
		"Forget":  func(ctx context.Context) error { _, err := g.Forget(ctx, "r", 0); return err },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- call(ctx) }()
		waitFor(t, g, "r", 2)
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled, name)
	}
	end()
	highest, err := g.Highest(context.Background(), "r")
	require.NoError(t, err)
	require.EqualValues(t, 5, highest)
	require.Zero(t, g.turns.Callers("r"))
}

// waitFor returns when so many callers want the resource.
func waitFor(t *testing.T, g *Guard, resource string, callers int) {
	t.Helper()
	require.Eventually(t, func() bool { return g.turns.Callers(resource) == callers }, time.Minute, time.Millisecond)
}

func TestResourcesDoNotWaitForEachOther(t *testing.T) {
	g := memGuard(t)
	end := inside(t, g, "r")
	_, err := g.Do(context.Background(), token.Write{Resource: "s", Token: 5}, put("s", "there"))
	require.NoError(t, err)
	end()
}

func TestAContextThatEndsInAWriteEndsNothing(t *testing.T) {
	g := memGuard(t)
	ctx, cancel := context.WithCancel(context.Background())
	_, err := g.Do(ctx, token.Write{Resource: "r", Token: 5}, func(b *pebble.Batch) ([]byte, error) {
		cancel()
		return put("data", "x")(b)
	})
	require.NoError(t, err)
	require.Equal(t, "x", read(t, g.store.db, "data"))
}

// TestThirtyTwoWritersWithShuffledTokens: the entries that were taken are in the
// order of their tokens, and each is there once.
func TestThirtyTwoWritersWithShuffledTokens(t *testing.T) {
	const writers = 32
	rng := newRand(t)
	g := memGuard(t)
	list := notes{Guard: g}
	tokens := rng.Perm(writers)
	var all sync.WaitGroup
	var mu sync.Mutex
	taken, stale := 0, 0
	start := make(chan struct{})
	for _, n := range tokens {
		all.Add(1)
		go func() {
			defer all.Done()
			<-start
			for range 3 {
				w := token.Write{Resource: "r", Token: token.Token(n + 1)}
				_, err := list.Append(context.Background(), w, w.Token.String())
				mu.Lock()
				if err == nil {
					taken++
				} else {
					var refusal *token.StaleError
					if !errors.As(err, &refusal) || refusal.Highest <= w.Token {
						t.Error(err)
					}
					stale++
				}
				mu.Unlock()
			}
		}()
	}
	close(start)
	all.Wait()
	got, err := list.Entries(context.Background(), "r")
	require.NoError(t, err)
	require.Len(t, got, taken)
	require.Equal(t, 3*writers, taken+stale)
	last := token.Token(0)
	for _, entry := range got {
		made, err := token.Parse(entry)
		require.NoError(t, err)
		require.GreaterOrEqual(t, made, last)
		last = made
	}
	require.EqualValues(t, writers, last, "the greatest token is always taken")
	require.Zero(t, g.turns.Callers("r"))
}
