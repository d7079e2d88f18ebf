package sqlfence

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestAttempts(t *testing.T) {
	t.Run("AWriteBeginsAgainUntilItIsLet", func(t *testing.T) {
		for _, statement := range []string{begin, postgresLock, postgresWords.recall, userWrites, postgresRaise, commit} {
			f, g := fakeGuard(t, Config{})
			refused, pauses := 0, []int(nil)
			f.before = func(s string) error {
				if s == statement && refused < 3 {
					refused++
					return stateError("40001")
				}
				return nil
			}
			g.attempts.pause = func(_ context.Context, n int) error {
				pauses = append(pauses, n)
				return nil
			}
			receipt, err := g.Do(context.Background(), write(5, "export"), writes("text", "value"))
			require.NoError(t, err, statement)
			require.Equal(t, token.Receipt{Token: 5, Value: []byte("value")}, receipt, statement)
			require.Equal(t, []int{1, 2, 3}, pauses, statement)
			require.Equal(t, []string{"text"}, f.committed.data, "%s: written once, though the function ran more often", statement)
		}
	})
	t.Run("ItGivesUpAfterTheAttemptsThatItIsAllowed", func(t *testing.T) {
		for set, want := range map[int]int{0: 20, 1: 1, 3: 3} {
			f, g := fakeGuard(t, Config{AttemptsMax: set})
			begun := 0
			f.before = func(s string) error {
				if s == begin {
					begun++
				}
				return on(commit, stateError("40P01"))(s)
			}
			_, err := g.Do(context.Background(), write(5, "export"), writes("text", ""))
			require.ErrorIs(t, err, ErrContended)
			require.ErrorIs(t, err, stateError("40P01"))
			require.NotErrorIs(t, err, token.ErrUnknown)
			require.Equal(t, want, begun)
			require.Empty(t, f.committed.fences)
		}
		require.Equal(t, 20, AttemptsDefault)
	})
	t.Run("AcceptAndHighestBeginAgainToo", func(t *testing.T) {
		f, g := fakeGuard(t, Config{})
		f.before = once(2, stateError("40001"))
		require.NoError(t, g.Accept(context.Background(), write(5, "")))
		f.before = once(1, stateError("40001"))
		highest, err := g.Highest(context.Background(), "document")
		require.NoError(t, err)
		require.Equal(t, token.Token(5), highest)
	})
	t.Run("AStaleWriteIsNotTriedAgain", func(t *testing.T) {
		f, g := fakeGuard(t, Config{})
		require.NoError(t, g.Accept(context.Background(), write(5, "")))
		locks := 0
		f.before = func(s string) error {
			if s == postgresLock {
				locks++
			}
			return nil
		}
		_, err := g.Do(context.Background(), write(4, "export"), writes("text", ""))
		require.Equal(t, &token.StaleError{Resource: "document", Given: 4, Highest: 5}, err)
		require.Equal(t, 1, locks)
	})
	t.Run("TheContextEndsAPause", func(t *testing.T) {
		f, g := fakeGuard(t, Config{})
		f.before = on(commit, stateError("40001"))
		ctx, cancel := context.WithCancelCause(context.Background())
		lost := errors.New("the lease is lost")
		g.attempts.pause = func(ctx context.Context, n int) error {
			cancel(lost)
			return pause(ctx, n)
		}
		_, err := g.Do(ctx, write(5, ""), writes("text", ""))
		for _, want := range []error{context.Canceled, lost, stateError("40001")} {
			require.ErrorIs(t, err, want)
		}
		require.NotErrorIs(t, err, token.ErrUnknown)
	})
}

func TestPausesDoubleUpToALimit(t *testing.T) {
	var limits []time.Duration
	for n := 1; n <= 9; n++ {
		limits = append(limits, pauseLimit(n)/time.Millisecond)
	}
	require.Equal(t, []time.Duration{2, 4, 8, 16, 32, 64, 128, 250, 250}, limits)
	require.Equal(t, pauseMax, pauseLimit(1<<40))
	require.NoError(t, pause(context.Background(), 1))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, pause(ctx, 100), context.Canceled)
}
