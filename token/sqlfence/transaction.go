package sqlfence

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// transaction runs work in a transaction, and commits if work says so. On every
// other way out, also by a panic or runtime.Goexit of work, it rolls back.
func (g *Guard) transaction(ctx context.Context, work func(*sql.Tx) (commit bool, err error)) error {
	tx, err := g.db.BeginTx(ctx, &sql.TxOptions{Isolation: g.isolation})
	if err != nil {
		return fmt.Errorf("sqlfence: begin: %w", err)
	}
	// A rollback that fails has lost its connection, and the database rolls back
	// by itself. After a commit it does nothing.
	defer func() { _ = tx.Rollback() }()
	commit, err := work(tx)
	if err != nil || !commit {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("sqlfence: before the commit: %w", ctx.Err())
	}
	err = tx.Commit()
	switch {
	case err == nil:
		return nil
	case g.attempts.database.undone(err):
		return fmt.Errorf("sqlfence: commit: %w", err)
	case errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil:
		// The context ended after the look at it, and database/sql has rolled
		// back instead.
		return fmt.Errorf("sqlfence: commit: %w", err)
	case errors.Is(err, sql.ErrTxDone):
		// A goroutine that the write function left behind, with what the guard
		// wrote as well.
		return fmt.Errorf("%w: %w: %w", token.ErrUnknown, ErrEnded, err)
	}
	return fmt.Errorf("sqlfence: commit: %w: %w", token.ErrUnknown, err)
}

// finished adds to an error why the context ended, if it has. What drivers
// return then is a variety; the caller finds context.Canceled or
// DeadlineExceeded, and the cause of a lost lease.
func finished(ctx context.Context, err error) error {
	ended := ctx.Err()
	if err == nil || ended == nil || errors.Is(err, token.ErrStale) {
		return err
	}
	if cause := context.Cause(ctx); !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	if !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	return err
}
