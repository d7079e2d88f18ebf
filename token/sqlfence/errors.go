package sqlfence

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

var (
	// ErrContended says that the database ended every allowed attempt for the
	// sake of other transactions. Nothing of the write is left; it may be tried
	// again.
	ErrContended = errors.New("sqlfence: contended")
	// ErrDamaged says that a row of the guard's tables has what no guard writes.
	// Nothing was written.
	ErrDamaged = errors.New("sqlfence: damaged")
	// ErrEnded says that the write function ended the guard's transaction, or
	// let the database end it and went on. The fence was not raised and the
	// operation not recorded by the guard. What the function itself committed is
	// committed.
	ErrEnded = errors.New("sqlfence: the transaction was ended by the write function")
	// ErrNotWritten says that a statement changed no row; see Wrote.
	ErrNotWritten = errors.New("sqlfence: not written")
	// ErrSchema says that the tables are of a later version than this package
	// knows.
	ErrSchema = errors.New("sqlfence: later schema")
)

// readToken checks a token that was read. The error does not match
// token.ErrInvalid, which is about what the caller gave.
func readToken(what, resource string, column any) (token.Token, error) {
	var t token.Token
	if err := t.Scan(column); err != nil {
		return 0, fmt.Errorf("%w: token of %s of resource %q: %v", ErrDamaged, what, resource, err)
	}
	if t.IsZero() {
		return 0, fmt.Errorf("%w: token of %s of resource %q is zero", ErrDamaged, what, resource)
	}
	return t, nil
}

// oneRow wants the one row of the fence to be changed.
func oneRow(result sql.Result) error {
	rows, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("sqlfence: raise the fence: %w", err)
	}
	if rows != 1 {
		return fmt.Errorf("%w: the fence is not where the transaction left it", ErrEnded)
	}
	return nil
}

// endedBy adds ErrEnded to an error that says that somebody has called Commit
// or Rollback. At the end of a context database/sql does; see finished.
func endedBy(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return err
}
