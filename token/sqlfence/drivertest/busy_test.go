package drivertest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// impatient are files whose connections don't wait for a lock at all.
var impatient = []place{
	{"WAL", sqlfence.SQLite, sql.LevelDefault, openSQLite("wal", 0)},
	{"RollbackJournal", sqlfence.SQLite, sql.LevelDefault, openSQLite("delete", 0)},
}

func TestWithoutABusyTimeoutTheGuardPauses(t *testing.T) {
	for _, p := range impatient {
		t.Run(p.name, func(t *testing.T) {
			r := newResource(t, p, sqlfence.Config{})
			few := newGuard(t, p, r.db, sqlfence.Config{AttemptsMax: 3})
			ctx := context.Background()
			fn, holding, goAhead := r.holds(5, nil)
			held := r.goDo(ctx, 5, fn)
			<-holding
			w := token.Write{Resource: "another", Token: 1, Operation: "export"}
			_, err := few.Do(ctx, w, r.increment(1))
			require.ErrorIs(t, err, sqlfence.ErrContended, "one lock for the whole file")
			require.ErrorContains(t, err, "gave up after 3 attempts, the last: sqlfence: lock the fence: ")
			require.ErrorContains(t, err, "SQLITE_BUSY")

			patient := make(chan error, 1)
			go func() {
				_, err := r.guard.Do(ctx, w, r.increment(1))
				patient <- err
			}()
			close(goAhead)
			require.NoError(t, (<-held).err)
			require.NoError(t, <-patient)
			require.Equal(t, left{fence: 5, operations: 1, writes: 2}, r.left(t))
		})
	}
}

func TestWithoutABusyTimeoutNothingIsLost(t *testing.T) {
	for _, p := range impatient {
		t.Run(p.name, func(t *testing.T) {
			r := newResource(t, p, sqlfence.Config{})
			written := shuffled(t, token.ErrStale, func(ctx context.Context, n token.Token) error {
				_, err := r.guard.Do(ctx, token.Write{Resource: "document", Token: n}, r.increment(int64(n)))
				return err
			})
			require.Equal(t, left{fence: writers, writes: written}, r.left(t))
			require.EqualValues(t, writers, r.number(t, `SELECT writer FROM document`))
		})
	}
}

// In rollback journal mode a reader keeps a COMMIT from being done. It is
// rolled back and tried again, and not called unknown.
func TestAReaderInTheWayOfACommit(t *testing.T) {
	p := impatient[1]
	r := newResource(t, p, sqlfence.Config{})
	ctx := context.Background()
	reader, err := r.db.BeginTx(ctx, nil)
	require.NoError(t, err)
	defer func() { _ = reader.Rollback() }()
	var writes int64
	require.NoError(t, reader.QueryRowContext(ctx, `SELECT writes FROM document`).Scan(&writes))
	few := newGuard(t, p, r.db, sqlfence.Config{AttemptsMax: 2})
	w := token.Write{Resource: "document", Token: 5, Operation: "export"}
	_, err = few.Do(ctx, w, r.increment(5))
	require.ErrorIs(t, err, sqlfence.ErrContended)
	require.ErrorContains(t, err, "the last: sqlfence: commit: ")
	require.NotErrorIs(t, err, token.ErrUnknown)
	require.Equal(t, left{}, r.left(t))
	require.NoError(t, reader.Rollback())
	_, err = few.Do(ctx, w, r.increment(5))
	require.NoError(t, err)
	require.Equal(t, left{fence: 5, operations: 1, writes: 1}, r.left(t))
}

// The first statement of a transaction takes the write lock, and waits for it
// as long as the connection's busy timeout says: no attempt is in vain.
func TestWithABusyTimeoutOneAttemptIsEnough(t *testing.T) {
	for _, journal := range []string{"wal", "delete"} {
		t.Run(journal, func(t *testing.T) {
			p := place{"", sqlfence.SQLite, sql.LevelDefault, openSQLite(journal, 60_000)}
			r := newResource(t, p, sqlfence.Config{AttemptsMax: 1})
			written := shuffled(t, token.ErrStale, func(ctx context.Context, n token.Token) error {
				_, err := r.guard.Do(ctx, token.Write{Resource: "document", Token: n}, r.increment(int64(n)))
				return err
			})
			require.Equal(t, left{fence: writers, writes: written}, r.left(t))
		})
	}
}
