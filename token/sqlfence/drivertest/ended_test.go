package drivertest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// statement returns what a write function does besides its write.
func statement(text string) func(context.Context, *sql.Tx) error {
	return func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, text)
		return err
	}
}

// badEnds are ways of a write function to end its transaction, and to go on as
// if nothing had happened.
var badEnds = map[string]struct {
	end func(context.Context, *sql.Tx) error
	// commits: what was written before is committed, by the function.
	commits bool
	only    sqlfence.Dialect
}{
	"Commit":         {func(_ context.Context, tx *sql.Tx) error { return tx.Commit() }, true, 0},
	"Rollback":       {func(_ context.Context, tx *sql.Tx) error { return tx.Rollback() }, false, 0},
	"COMMIT":         {statement(`COMMIT`), true, 0},
	"ROLLBACK":       {statement(`ROLLBACK`), false, 0},
	"COMMITAndBEGIN": {statement(`COMMIT; BEGIN`), true, 0},
	"AnErrorOfPostgreSQLThatIsIgnored": {func(ctx context.Context, tx *sql.Tx) error {
		if statement(`SELECT 1/0`)(ctx, tx) == nil {
			return errors.New("no error")
		}
		return nil
	}, false, sqlfence.PostgreSQL},
	"AnErrorThatMakesSQLiteRollBack": {func(ctx context.Context, tx *sql.Tx) error {
		if statement(`INSERT OR ROLLBACK INTO document VALUES ('document', 0, 0, 0)`)(ctx, tx) == nil {
			return errors.New("no error")
		}
		return nil
	}, false, sqlfence.SQLite},
}

func TestAWriteFunctionThatEndsTheTransactionIsNoSuccess(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		for name, row := range badEnds {
			if row.only != 0 && row.only != p.dialect {
				continue
			}
			t.Run(name, func(t *testing.T) {
				r := newResource(t, p, sqlfence.Config{})
				ctx := context.Background()
				require.NoError(t, r.guard.Accept(ctx, token.Write{Resource: "document", Token: 4}))
				w := token.Write{Resource: "document", Token: 5, Operation: "export"}
				_, err := r.guard.Do(ctx, w, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
					value, err := r.increment(5)(ctx, tx)
					return value, errors.Join(err, row.end(ctx, tx))
				})
				require.Error(t, err)
				if !strings.HasPrefix(name, "AnErrorOfPostgreSQL") {
					require.ErrorIs(t, err, sqlfence.ErrEnded)
				}
				want := left{fence: 4}
				if row.commits {
					want.writes = 1
				}
				require.Equal(t, want, r.left(t), "neither fence nor operation")

				// The pool's connections are as before.
				for range 3 {
					receipt, err := r.guard.Do(ctx, w, r.increment(5))
					require.NoError(t, err)
					require.Equal(t, token.Token(5), receipt.Token)
				}
				require.Equal(t, left{fence: 5, operations: 1, writes: want.writes + 1}, r.left(t))
			})
		}
	})
}

func TestAWriteFunctionMayUseSavepoints(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		w := token.Write{Resource: "document", Token: 5, Operation: "export"}
		_, err := r.guard.Do(context.Background(), w, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			if _, err := r.increment(5)(ctx, tx); err != nil {
				return nil, err
			}
			for _, text := range []string{`SAVEPOINT mine`, `UPDATE document SET writes = 100`, `ROLLBACK TO mine`} {
				if err := statement(text)(ctx, tx); err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		require.NoError(t, err)
		require.Equal(t, left{fence: 5, operations: 1, writes: 1}, r.left(t))
	})
}

// A deferred constraint is looked at by the COMMIT, which then is refused.
func TestACommitThatAConstraintRefusesLeavesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		ctx := context.Background()
		w := token.Write{Resource: "document", Token: 5, Operation: "export"}
		_, err := r.guard.Do(ctx, w, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			if _, err := r.increment(5)(ctx, tx); err != nil {
				return nil, err
			}
			return nil, statement(`INSERT INTO child VALUES (1)`)(ctx, tx)
		})
		require.ErrorContains(t, err, "sqlfence: commit: ")
		require.NotErrorIs(t, err, token.ErrUnknown)
		require.Equal(t, left{}, r.left(t))
		_, err = r.guard.Do(ctx, w, r.increment(5))
		require.NoError(t, err)
		require.Equal(t, left{fence: 5, operations: 1, writes: 1}, r.left(t))
	})
}
