package sqlfence

import (
	"database/sql"
	"fmt"
)

// Wrote turns the result of a conditional statement about one row into an
// error. It is for the plain pattern, which needs no table of a guard: the
// row itself has a column last_fence, and each statement that writes it says
//
//	UPDATE … SET …, last_fence = $3 WHERE id = $1 AND last_fence <= $3
//
// No row changed is never success, though the database reports no error: Wrote
// returns ErrNotWritten, which says that a later owner has written, or that
// there is no such row; the statement can't tell which. Any other error is
// returned as it is: a serialization failure too, after which nothing was
// written and the transaction has to be begun again. An error that came because
// the connection was lost leaves open whether the statement took effect. With
// the same token it may be sent again if it sets values; not if it adds to
// them.
//
// The pattern holds in a statement at read committed or any level above. It
// does not hold for a SELECT of last_fence with an UPDATE after it that does
// not have the condition. Inside a transaction nothing is written before its
// commit succeeds. It protects the one row: a statement about several rows
// changes those that allow it, and Wrote is content with the first.
func Wrote(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	if result == nil {
		return fmt.Errorf("%w: no result and no error", ErrNotWritten)
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return fmt.Errorf("%w, as far as is known: the driver does not count rows: %w", ErrNotWritten, err)
	}
	if rows < 1 {
		return fmt.Errorf("%w: a later owner has written, or there is no such row", ErrNotWritten)
	}
	return nil
}
