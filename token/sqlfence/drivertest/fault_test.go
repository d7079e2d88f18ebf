package drivertest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// openFaulty makes a database and a second way to it, which is faulty.
func openFaulty(t *testing.T, p place) (resource, *faulty) {
	t.Helper()
	var real driver.Connector
	if p.dialect == sqlfence.SQLite {
		dsn := sqliteDSN(filepath.Join(t.TempDir(), "test.db"), "wal", 60_000)
		connector, err := sqlite.NewConnector(dsn)
		require.NoError(t, err)
		real = connector
	} else {
		real = stdlib.GetConnector(*inOwnSchema(t, postgresConfig(t)))
	}
	p.open = func(*testing.T) func(*testing.T) *sql.DB {
		return func(t *testing.T) *sql.DB { return pool(t, sql.OpenDB(real)) }
	}
	return newResource(t, p, sqlfence.Config{}), &faulty{Connector: real}
}

// guarded are the calls of a guard that write.
var guarded = map[string]func(r resource, g *sqlfence.Guard, w token.Write) (token.Receipt, error){
	"Do": func(r resource, g *sqlfence.Guard, w token.Write) (token.Receipt, error) {
		return g.Do(context.Background(), w, r.increment(int64(w.Token)))
	},
	"DoOnce": func(r resource, g *sqlfence.Guard, w token.Write) (token.Receipt, error) {
		return g.DoOnce(context.Background(), w, r.increment(int64(w.Token)))
	},
}

// TestTheNthAnswerIsAnError lets every question to the database fail, one run
// for each: once or with its connection, before its effect or after. Whatever
// is returned, rows, fence and operation are there together or not at all, and
// the next attempt makes it one write.
func TestTheNthAnswerIsAnError(t *testing.T) {
	for _, p := range []place{{name: "SQLite", dialect: sqlfence.SQLite}, postgresAt(sql.LevelSerializable)} {
		for _, fault := range []struct{ after, breaks bool }{{}, {after: true}, {breaks: true}, {true, true}} {
			for verb, write := range guarded {
				t.Run(fmt.Sprintf("%s/%s/After=%v/Breaks=%v", p.name, verb, fault.after, fault.breaks), func(t *testing.T) {
					r, f := openFaulty(t, p)
					unknown := 0
					faults := 0
					for ; ; faults++ {
						r.exec(t, `DELETE FROM palisade_fence`)
						r.exec(t, `DELETE FROM palisade_operation`)
						r.exec(t, `UPDATE document SET writes = 0`)
						f.at, f.asked, f.last, f.after, f.breaks = faults+1, 0, "", fault.after, fault.breaks
						db := sql.OpenDB(f)
						w := token.Write{Resource: "document", Token: 5, Operation: "export"}
						receipt, err := write(r, newGuard(t, p, db, sqlfence.Config{}), w)
						require.NoError(t, db.Close())
						if f.last == "" {
							require.NoError(t, err, "it ran untouched")
							require.Equal(t, token.Receipt{Token: 5, Value: []byte("1")}, receipt)
							break
						}
						got := r.left(t)
						require.Contains(t, []left{{}, {fence: 5, operations: 1, writes: 1}}, got, f.last)
						require.ErrorIs(t, err, errFault, f.last)
						require.Equal(t, f.last == "COMMIT", errors.Is(err, token.ErrUnknown), f.last)
						if errors.Is(err, token.ErrUnknown) {
							unknown++
						} else {
							require.Equal(t, left{}, got, f.last)
						}
						w.Token = 6
						again, err := write(r, r.guard, w)
						require.NoError(t, err, f.last)
						require.Equal(t, got != left{}, again.Repeated, f.last)
						require.Equal(t, left{fence: 6, operations: 1, writes: 1}, r.left(t), f.last)
					}
					require.Equal(t, 1, unknown, "the commit was among the faults")
					require.GreaterOrEqual(t, faults, 8, "begin, lock, look, read, write, raise, record, commit")
				})
			}
		}
	}
}

func TestTheNthAnswerToAcceptIsAnError(t *testing.T) {
	for _, p := range []place{{name: "SQLite", dialect: sqlfence.SQLite}, postgresAt(sql.LevelReadCommitted)} {
		for _, after := range []bool{false, true} {
			r, f := openFaulty(t, p)
			f.after, f.breaks = after, true
			faults := 0
			for ; ; faults++ {
				r.exec(t, `DELETE FROM palisade_fence`)
				f.at, f.asked, f.last = faults+1, 0, ""
				db := sql.OpenDB(f)
				w := token.Write{Resource: "document", Token: 5}
				err := newGuard(t, p, db, sqlfence.Config{}).Accept(context.Background(), w)
				require.NoError(t, db.Close())
				if f.last == "" {
					require.NoError(t, err)
					break
				}
				require.ErrorIs(t, err, errFault, f.last)
				require.Equal(t, f.last == "COMMIT", errors.Is(err, token.ErrUnknown), f.last)
				done := f.last == "COMMIT" && after
				require.Equal(t, done, r.left(t) == left{fence: 5}, f.last)
				require.NoError(t, r.guard.Accept(context.Background(), w), f.last)
			}
			require.GreaterOrEqual(t, faults, 4, "begin, lock, raise, commit")
		}
	}
}
