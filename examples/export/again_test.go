package main

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// watched is a fence that tells of each write that it is asked for.
type watched struct {
	fence
	asked func(token.Write)
}

func (f watched) Do(ctx context.Context, w token.Write,
	write func(context.Context, *sql.Tx) ([]byte, error)) (token.Receipt, error) {
	f.asked(w)
	return f.fence.Do(ctx, w, write)
}

// midway is a fence that tells of each page that is written and not committed.
type midway struct {
	fence
	written func(token.Write)
}

func (f midway) Do(ctx context.Context, w token.Write,
	write func(context.Context, *sql.Tx) ([]byte, error)) (token.Receipt, error) {
	return f.fence.Do(ctx, w, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		value, err := write(ctx, tx)
		f.written(w)
		return value, err
	})
}

// answering is a fence whose answers are set by a test, one for each write; a
// nil lets the fence answer.
type answering struct {
	fence
	answers []func(write func() (token.Receipt, error)) (token.Receipt, error)
	asked   int
}

func (f *answering) Do(ctx context.Context, w token.Write,
	write func(context.Context, *sql.Tx) ([]byte, error)) (token.Receipt, error) {
	do := func() (token.Receipt, error) { return f.fence.Do(ctx, w, write) }
	f.asked++
	if f.asked > len(f.answers) {
		return do()
	}
	return f.answers[f.asked-1](do)
}

// An answer gets lost after the write was done, or with a write that was not.
func lostAfter(write func() (token.Receipt, error)) (token.Receipt, error) {
	_, err := write()
	return token.Receipt{}, errors.Join(token.ErrUnknown, err)
}

func lostBefore(func() (token.Receipt, error)) (token.Receipt, error) {
	return token.Receipt{}, token.ErrUnknown
}

func failing(err error) func(func() (token.Receipt, error)) (token.Receipt, error) {
	return func(func() (token.Receipt, error)) (token.Receipt, error) { return token.Receipt{}, err }
}

type answers = []func(func() (token.Receipt, error)) (token.Receipt, error)

func TestAnswerThatIsLost(t *testing.T) {
	ctx := context.Background()
	// run runs a job of one page with these answers.
	run := func(t *testing.T, a answers) (*office, int, error) {
		o := openOffice(t, 1)
		f := &answering{fence: o.guard, answers: a}
		j := o.job()
		j.fence = f
		err := j.run(ctx, newLease(7))
		return o, f.asked, err
	}
	t.Run("IsAskedForAgainAndThePageIsNotWrittenTwice", func(t *testing.T) {
		o, asked, err := run(t, answers{lostAfter})
		require.NoError(t, err)
		require.Equal(t, 2, asked)
		o.hears(repeated(1, 1, 7))
		o.has(1, 1)
	})
	t.Run("IsAskedForAgainAndThePageThatWasNotWrittenIs", func(t *testing.T) {
		o, asked, err := run(t, answers{lostBefore, lostBefore})
		require.NoError(t, err)
		require.Equal(t, 3, asked)
		o.hears(wrote(1, 1, 7))
		o.has(1, 1)
	})
	t.Run("ThreeTimesLeavesTheOutcomeUnknown", func(t *testing.T) {
		o, asked, err := run(t, answers{lostAfter, lostBefore, lostBefore})
		require.ErrorIs(t, err, token.ErrUnknown)
		require.Equal(t, 3, asked)
		require.Equal(t, 3, commitsMax)
		require.NoError(t, o.job().run(ctx, newLease(8)))
		o.hears(repeated(1, 1, 7))
	})
	t.Run("AndThenAnotherErrorLeavesTheOutcomeUnknown", func(t *testing.T) {
		other := errors.New("the disk is full")
		_, asked, err := run(t, answers{lostAfter, failing(other)})
		require.ErrorIs(t, err, token.ErrUnknown)
		require.ErrorIs(t, err, other)
		require.Equal(t, 2, asked)
	})
	t.Run("AndThenARefusalTellsThatItWasNotWritten", func(t *testing.T) {
		_, asked, err := run(t, answers{lostBefore, failing(&token.StaleError{Given: 7, Highest: 8})})
		require.ErrorIs(t, err, token.ErrStale)
		require.NotErrorIs(t, err, token.ErrUnknown)
		require.Equal(t, 2, asked)
	})
}

func TestAnErrorOfTheFenceIsTriedOnce(t *testing.T) {
	o := openOffice(t, 1)
	broken := errors.New("the disk is full")
	f := &answering{fence: o.guard, answers: answers{failing(broken)}}
	j := o.job()
	j.fence = f
	err := j.run(context.Background(), newLease(7))
	require.ErrorIs(t, err, broken)
	require.NotErrorIs(t, err, token.ErrUnknown)
	require.Equal(t, 1, f.asked)
	o.has(0, 0)
}

func TestWhatWasDone(t *testing.T) {
	ctx := context.Background()
	t.Run("IsNotDoneAgainByTheSameOwner", func(t *testing.T) {
		o, l := openOffice(t, manyOrders), newLease(7)
		require.NoError(t, o.job().run(ctx, l))
		o.hears(wrote(1, 1, 7), wrote(2, 2, 7), wrote(3, 3, 7))
		before := facts(t, o.ledger, month)
		require.NoError(t, o.job().run(ctx, l))
		o.hears(repeated(1, 1, 7), repeated(2, 2, 7), repeated(3, 3, 7))
		require.Equal(t, before, facts(t, o.ledger, month))
	})
	t.Run("IsDoneAnewByALaterOwnerWhereOrdersCameIn", func(t *testing.T) {
		o := openOffice(t, manyOrders)
		require.NoError(t, o.job().run(ctx, newLease(7)))
		o.order(ordersMax)
		o.said = nil
		require.NoError(t, o.job().run(ctx, newLease(8)))
		o.hears(repeated(1, 1, 7), repeated(2, 2, 7), wrote(3, 4, 8), wrote(4, 5, 8))
		o.has(manyOrders+ordersMax, 5)
	})
	t.Run("IsNotMixedWithWhatCameInDuringTheLastStep", func(t *testing.T) {
		o := openOffice(t, manyOrders)
		j := o.job()
		j.work = func(_ context.Context, p page) error {
			if p.step == 3 {
				o.order(ordersMax)
			}
			return nil
		}
		require.NoError(t, j.run(ctx, newLease(7)))
		o.has(manyOrders, 3)
		require.NoError(t, o.job().run(ctx, newLease(8)))
		o.has(manyOrders+ordersMax, 5)
	})
}

func TestWhatTheGuardHasForgottenIsWrittenAgain(t *testing.T) {
	ctx := context.Background()
	o := openOffice(t, 1)
	require.NoError(t, o.job().run(ctx, newLease(7)))
	_, err := o.db.Exec("UPDATE palisade_operation SET at = at - 60 * 1000")
	require.NoError(t, err)
	guard, err := openGuard(ctx, o.ledger)
	require.NoError(t, err)
	forgotten, err := guard.Forget(ctx, 30*time.Second)
	require.NoError(t, err)
	require.EqualValues(t, 1, forgotten)
	require.NoError(t, o.job().run(ctx, newLease(8)))
	o.hears(wrote(1, 1, 7), wrote(1, 2, 8))
	require.True(t, facts(t, o.ledger, month).complete())
}

// A token and an operation id answer different questions: whose turn it is, and
// what is done.
func TestTokenAndOperationCatchWhatTheOtherCannot(t *testing.T) {
	ctx := context.Background()
	// late returns an office in which owner 7 was stopped before it wrote the
	// only page, and what it was about to write.
	late := func(t *testing.T) (*office, page) {
		o := openOffice(t, 1)
		orders, err := o.after(ctx, page{month: month})
		require.NoError(t, err)
		return o, page{month: month}.next(orders)
	}
	t.Run("ALateOwnerWithAnotherOperationIsStale", func(t *testing.T) {
		o, p := late(t)
		o.order(1)
		require.NoError(t, o.job().run(ctx, newLease(8)))
		_, err := o.job().commit(ctx, 7, p)
		var stale *token.StaleError
		require.ErrorAs(t, err, &stale)
		require.Equal(t, token.StaleError{Resource: "export of 2026-11", Given: 7, Highest: 8}, *stale)
		o.has(2, 1)
	})
	t.Run("WithoutAFenceItOverwrites", func(t *testing.T) {
		o, p := late(t)
		o.order(1)
		o.guard = unfenced{o.db}
		require.NoError(t, o.job().run(ctx, newLease(8)))
		receipt, err := o.job().commit(ctx, 7, p)
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 7, Value: []byte("2")}, receipt)
		o.has(1, 2)
	})
	t.Run("ALateOwnerWithTheSameOperationGetsTheReceiptOfTheLater", func(t *testing.T) {
		o, p := late(t)
		require.NoError(t, o.job().run(ctx, newLease(8)))
		receipt, err := o.job().commit(ctx, 7, p)
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 8, Value: []byte("1"), Repeated: true}, receipt)
		o.has(1, 1)
	})
	t.Run("WithoutAnOperationTheOwnerOfTheMomentWritesAgain", func(t *testing.T) {
		o, p := late(t)
		for i, owner := range []token.Token{7, 8} {
			w := token.Write{Resource: resourceOf(month), Token: owner}
			receipt, err := o.guard.Do(ctx, w, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
				return o.write(ctx, tx, p)
			})
			require.NoError(t, err)
			require.Equal(t, []byte{'1' + byte(i)}, receipt.Value)
		}
		o.has(1, 2)
	})
}
