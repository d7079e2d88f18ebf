package main

import (
	"context"
	"database/sql"
	"errors"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// fence checks tokens where the pages are, in the transaction that writes one.
// It is a *sqlfence.Guard, or unfenced.
type fence interface {
	Accept(ctx context.Context, w token.Write) error
	Do(ctx context.Context, w token.Write, write func(context.Context, *sql.Tx) ([]byte, error)) (token.Receipt, error)
}

// openGuard makes the tables of a guard in the ledger's database, if they are
// not there, and returns the guard.
func openGuard(ctx context.Context, l *ledger) (*sqlfence.Guard, error) {
	if err := sqlfence.Migrate(ctx, l.db, sqlfence.SQLite); err != nil {
		return nil, err
	}
	return sqlfence.New(l.db, sqlfence.SQLite, sqlfence.Config{})
}

// unfenced is what a program has that trusts its lock alone: a transaction, in
// which nobody asks for the token. It knows no operations either.
type unfenced struct{ db *sql.DB }

// Accept accepts every token.
func (unfenced) Accept(context.Context, token.Write) error { return nil }

// Do writes, whoever asks for it.
func (u unfenced) Do(ctx context.Context, w token.Write,
	write func(context.Context, *sql.Tx) ([]byte, error)) (receipt token.Receipt, err error) {
	tx, err := u.db.BeginTx(ctx, nil)
	if err != nil {
		return token.Receipt{}, err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the error says why
		}
	}()
	value, err := write(ctx, tx)
	if err != nil {
		return token.Receipt{}, err
	}
	if err := tx.Commit(); err != nil {
		return token.Receipt{}, errors.Join(token.ErrUnknown, err)
	}
	return token.Receipt{Token: w.Token, Value: value}, nil
}

// unheard is a fence whose answers never arrive: the write is done, and whoever
// asked for it waits until its context ends.
type unheard struct {
	fence
	done func(token.Receipt) // told what the answer was
}

// Do is as the fence's, but for the answer.
func (u unheard) Do(ctx context.Context, w token.Write,
	write func(context.Context, *sql.Tx) ([]byte, error)) (token.Receipt, error) {
	receipt, err := u.fence.Do(ctx, w, write)
	if err != nil {
		return receipt, err
	}
	u.done(receipt)
	<-ctx.Done()
	return token.Receipt{}, errors.Join(token.ErrUnknown, ctx.Err())
}
