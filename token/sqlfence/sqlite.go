package sqlfence

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// sqlite is the dialect of SQLite.
type sqlite struct{}

//go:embed schema/sqlite.sql
var sqliteSchema string

// The first statement writes, or could: so it takes the one write lock before
// anything is read. A transaction that reads first keeps what it saw, and is
// refused with SQLITE_BUSY_SNAPSHOT, without waiting, when it wants to write
// after another one has.
const (
	sqliteMake    = `INSERT INTO palisade_fence (resource, token) VALUES (?1, ?2) ON CONFLICT (resource) DO NOTHING`
	sqliteRead    = `SELECT token FROM palisade_fence WHERE resource = ?1`
	sqliteMark    = `SAVEPOINT palisade`
	sqliteRelease = `RELEASE palisade`
	sqliteRaise   = `UPDATE palisade_fence SET token = ?2 WHERE resource = ?1`
)

// SQLite's clock in milliseconds since 1970; julianday has it in every version.
const sqliteNow = `CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)`

var sqliteWords = words{
	schema: sqliteSchema,
	exists: `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'palisade_schema')`,
	recall: `SELECT token, value FROM palisade_operation WHERE resource = ?1 AND operation = ?2`,
	record: `INSERT INTO palisade_operation (resource, operation, token, value, at)
VALUES (?1, ?2, ?3, ?4, ` + sqliteNow + `)`,
	forget: `DELETE FROM palisade_operation WHERE rowid IN (
SELECT rowid FROM palisade_operation WHERE at < ` + sqliteNow + ` - ?1 ORDER BY at LIMIT ?2)`,
	highest: sqliteRead,
}

// hold sets a savepoint. It is how raise notices that the transaction ended:
// by the write function, or by SQLite itself, which rolls back on some errors
// and runs what comes after as transactions of their own.
func (sqlite) hold(ctx context.Context, tx *sql.Tx, w token.Write) (fence, error) {
	var found fence
	result, err := tx.ExecContext(ctx, sqliteMake, w.Resource, int64(w.Token))
	if err != nil {
		return found, fmt.Errorf("sqlfence: lock the fence: %w", err)
	}
	made, err := result.RowsAffected()
	if err != nil {
		return found, fmt.Errorf("sqlfence: make the fence: %w", err)
	}
	if made == 0 {
		var column any
		if err := tx.QueryRowContext(ctx, sqliteRead, w.Resource).Scan(&column); err != nil {
			return found, fmt.Errorf("sqlfence: read the fence: %w", err)
		}
		if found.highest, err = readToken("the fence", w.Resource, column); err != nil {
			return found, err
		}
	}
	if _, err := tx.ExecContext(ctx, sqliteMark); err != nil {
		return found, fmt.Errorf("sqlfence: mark the transaction: %w", err)
	}
	return found, nil
}

func (sqlite) raise(ctx context.Context, tx *sql.Tx, w token.Write, _ fence) error {
	if _, err := tx.ExecContext(ctx, sqliteRelease); err != nil {
		const generic = 1 // SQLITE_ERROR, here for "no such savepoint"
		if sqliteCode(err) == generic {
			return fmt.Errorf("%w: %w", ErrEnded, err)
		}
		return fmt.Errorf("sqlfence: find the mark of the transaction: %w", endedBy(err))
	}
	result, err := tx.ExecContext(ctx, sqliteRaise, w.Resource, int64(w.Token))
	if err != nil {
		return fmt.Errorf("sqlfence: raise the fence: %w", endedBy(err))
	}
	return oneRow(result)
}

// coder is how drivers of SQLite say which error it was: that of
// modernc.org/sqlite does.
type coder interface{ Code() int }

// sqliteCode returns the primary result code, the low byte of an extended one.
func sqliteCode(err error) int {
	var c coder
	if errors.As(err, &c) {
		return c.Code() & 0xff
	}
	return 0
}

const (
	codeBusy       = 5  // SQLITE_BUSY
	codeLocked     = 6  // SQLITE_LOCKED, of connections that share a cache
	codeConstraint = 19 // SQLITE_CONSTRAINT
)

// again knows the ways to be told that somebody else has the lock.
func (sqlite) again(err error) bool {
	code := sqliteCode(err)
	return code == codeBusy || code == codeLocked
}

// undone knows the answers with which a COMMIT is not begun: a reader is in
// the way, or a deferred constraint does not hold. After an error of the disk
// a journal may be complete that the next opening plays back.
func (d sqlite) undone(err error) bool {
	return d.again(err) || sqliteCode(err) == codeConstraint
}
