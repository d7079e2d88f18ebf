package main

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestUnfenced(t *testing.T) {
	ctx := context.Background()
	p := page{month: month}.next(ordersFrom(1, 1))
	t.Run("RollsBackWhatFailed", func(t *testing.T) {
		l := openTestLedger(t)
		broken := errors.New("broken")
		_, err := unfenced{l.db}.Do(ctx, token.Write{Token: 7}, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			_, err := l.write(ctx, tx, p)
			require.NoError(t, err)
			return nil, broken
		})
		require.ErrorIs(t, err, broken)
		require.Equal(t, export{}, facts(t, l, month))
		require.Equal(t, "1", put(t, l, p), "no transaction is left open")
	})
	t.Run("DoesNotKnowWhatBecameOfACommitThatFailed", func(t *testing.T) {
		l := openTestLedger(t)
		_, err := unfenced{l.db}.Do(ctx, token.Write{Token: 7}, func(_ context.Context, tx *sql.Tx) ([]byte, error) {
			return nil, tx.Commit()
		})
		require.ErrorIs(t, err, token.ErrUnknown)
		require.ErrorIs(t, err, sql.ErrTxDone)
	})
}

func TestUnheard(t *testing.T) {
	p := page{month: month}.next(ordersFrom(1, 1))
	t.Run("WritesAndDoesNotAnswer", func(t *testing.T) {
		o := openOffice(t, 0)
		ctx, cancel := context.WithCancel(context.Background())
		j := o.job()
		j.fence = unheard{o.guard, func(r token.Receipt) {
			require.Equal(t, token.Receipt{Token: 7, Value: []byte("1")}, r)
			require.Equal(t, 1, facts(t, o.ledger, month).pages, "it is written by then")
			cancel()
		}}
		_, err := j.commit(ctx, 7, p)
		require.ErrorIs(t, err, token.ErrUnknown)
	})
	t.Run("AnswersThatNothingWasWritten", func(t *testing.T) {
		o := openOffice(t, 0)
		require.NoError(t, o.guard.Accept(context.Background(), token.Write{Resource: resourceOf(month), Token: 8}))
		j := o.job()
		j.fence = unheard{o.guard, func(token.Receipt) { t.Error("nothing was written") }}
		_, err := j.commit(context.Background(), 7, p)
		require.ErrorIs(t, err, token.ErrStale)
	})
}
