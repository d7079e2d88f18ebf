package drivertest

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token/sqlfence"
)

// The statements of the plain pattern, as docs/fencing/sql.md has them.
const (
	plainUpdate = `UPDATE document SET writes = writes + 1, writer = $2, last_fence = $2
WHERE id = $1 AND last_fence <= $2`
	plainInsert = `INSERT INTO document (id, writes, writer, last_fence) VALUES ($1, 1, $2, $2)
ON CONFLICT (id) DO UPDATE
SET writes = document.writes + 1, writer = excluded.writer, last_fence = excluded.last_fence
WHERE document.last_fence <= excluded.last_fence`
)

// plainly runs work in transactions at the place's level until the database
// lets one end by itself.
func (r resource) plainly(ctx context.Context, work func(*sql.Tx) error) error {
	for {
		err := r.inTransaction(ctx, work)
		if !begunAgain(err) {
			return err
		}
	}
}

func (r resource) inTransaction(ctx context.Context, work func(*sql.Tx) error) error {
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{Isolation: r.level})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if err := work(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// begunAgain says whether err is a serialization failure of PostgreSQL.
func begunAgain(err error) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) && state.SQLState() == "40001"
}

func TestAPlainUpdateIsRefusedForALowerToken(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		run := func(statement, id string, fence int64) error {
			return sqlfence.Wrote(r.db.ExecContext(context.Background(), r.sql(statement), id, fence))
		}
		require.NoError(t, run(plainUpdate, "document", 5))
		require.NoError(t, run(plainUpdate, "document", 5), "the same owner writes again")
		require.ErrorIs(t, run(plainUpdate, "document", 4), sqlfence.ErrNotWritten)
		require.ErrorIs(t, run(plainUpdate, "no such", 6), sqlfence.ErrNotWritten, "no row is never success")
		require.NoError(t, run(plainInsert, "document", 6))
		require.ErrorIs(t, run(plainInsert, "document", 5), sqlfence.ErrNotWritten)
		require.NoError(t, run(plainInsert, "new", 5))
		require.ErrorIs(t, run(plainInsert, "new", 4), sqlfence.ErrNotWritten)
		require.EqualValues(t, 3, r.number(t, `SELECT writes FROM document WHERE id = 'document'`))
		require.EqualValues(t, 1, r.number(t, `SELECT writes FROM document WHERE id = 'new'`))
	})
}

// The condition has to be in the statement that writes. A look before it lets a
// later owner in between.
func TestALookBeforeAPlainUpdateIsNoCheck(t *testing.T) {
	r := newResource(t, postgresAt(sql.LevelReadCommitted), sqlfence.Config{})
	ctx := context.Background()
	require.NoError(t, r.inTransaction(ctx, func(tx *sql.Tx) error {
		var fence int64
		require.NoError(t, tx.QueryRowContext(ctx, `SELECT last_fence FROM document`).Scan(&fence))
		require.Less(t, fence, int64(5), "the look finds nothing wrong")
		require.NoError(t, sqlfence.Wrote(r.db.ExecContext(ctx, plainUpdate, "document", int64(6))), "the later owner")
		_, err := tx.ExecContext(ctx, `UPDATE document SET writer = 5, last_fence = 5`)
		return err
	}))
	require.EqualValues(t, 5, r.number(t, `SELECT writer FROM document`), "the stale write stands")
}
