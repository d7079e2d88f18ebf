package drivertest

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/palisade-go/palisade/token/sqlfence"
)

// connectionsMax is how many connections a test's pool has: more than it has
// goroutines.
const connectionsMax = 40

// place is a kind of database that tests run on, with an isolation level.
type place struct {
	name    string
	dialect sqlfence.Dialect
	level   sql.IsolationLevel
	// open makes an empty database, and returns how to connect to it, as often
	// as is wanted.
	open func(t *testing.T) (connect func(t *testing.T) *sql.DB)
}

var levels = []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable}

// places are all kinds. Those of PostgreSQL skip the test if there is none.
func places() []place {
	list := []place{
		{"SQLite/WAL", sqlfence.SQLite, sql.LevelDefault, openSQLite("wal", 60_000)},
		{"SQLite/RollbackJournal", sqlfence.SQLite, sql.LevelSerializable, openSQLite("delete", 60_000)},
		{"PostgreSQL/SimpleProtocol", sqlfence.PostgreSQL, sql.LevelDefault, openPostgresSimply},
	}
	for _, level := range levels {
		name := "PostgreSQL/" + strings.ReplaceAll(level.String(), " ", "")
		list = append(list, place{name, sqlfence.PostgreSQL, level, openPostgres})
	}
	return list
}

// onEach runs a test at each place, several at once: they wait for disks most of
// the time. Not more on PostgreSQL than its 100 connections are enough for.
func onEach(t *testing.T, test func(t *testing.T, p place)) {
	onServer := make(chan struct{}, 2)
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			if p.dialect == sqlfence.PostgreSQL {
				onServer <- struct{}{}
				t.Cleanup(func() { <-onServer }) // the last, after the pools are closed
			}
			test(t, p)
		})
	}
}

// postgresAt is PostgreSQL at a level.
func postgresAt(level sql.IsolationLevel) place {
	return place{"PostgreSQL", sqlfence.PostgreSQL, level, openPostgres}
}

// sqliteDSN names a file for the driver.
func sqliteDSN(file, journal string, busyMilliseconds int) string {
	return fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(%s)&_pragma=foreign_keys(1)",
		file, busyMilliseconds, journal)
}

func openSQLite(journal string, busyMilliseconds int) func(*testing.T) func(*testing.T) *sql.DB {
	return func(t *testing.T) func(*testing.T) *sql.DB {
		dsn := sqliteDSN(filepath.Join(t.TempDir(), "test.db"), journal, busyMilliseconds)
		return func(t *testing.T) *sql.DB {
			t.Helper()
			db, err := sql.Open("sqlite", dsn)
			require.NoError(t, err)
			return pool(t, db)
		}
	}
}

// pool sets up db and closes it at the end of the test.
func pool(t *testing.T, db *sql.DB) *sql.DB {
	db.SetMaxOpenConns(connectionsMax)
	db.SetMaxIdleConns(connectionsMax)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// sql spells the parameters $1, $2 for the place.
func (p place) sql(statement string) string {
	if p.dialect == sqlfence.SQLite {
		return strings.ReplaceAll(statement, "$", "?")
	}
	return statement
}

// resource is a database with the guard's tables and the table of a user.
type resource struct {
	place
	db      *sql.DB
	guard   *sqlfence.Guard
	connect func(*testing.T) *sql.DB
}

// usersTables are what the tests protect: a counter with its last writer, and
// lists of entries.
const usersTables = `
CREATE TABLE document (id TEXT PRIMARY KEY, writes BIGINT NOT NULL, writer BIGINT NOT NULL, last_fence BIGINT NOT NULL);
INSERT INTO document VALUES ('document', 0, 0, 0);
CREATE TABLE entry (list TEXT, place BIGINT, text TEXT, PRIMARY KEY (list, place));
CREATE TABLE parent (id BIGINT PRIMARY KEY);
CREATE TABLE child (parent BIGINT REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);`

// newResource makes the tables. The guard takes as many attempts as it needs,
// unless c says something else.
func newResource(t *testing.T, p place, c sqlfence.Config) resource {
	t.Helper()
	r := resource{place: p, connect: p.open(t)}
	r.db = r.connect(t)
	require.NoError(t, sqlfence.Migrate(context.Background(), r.db, p.dialect))
	r.exec(t, usersTables)
	r.guard = newGuard(t, p, r.db, c)
	return r
}

func newGuard(t *testing.T, p place, db *sql.DB, c sqlfence.Config) *sqlfence.Guard {
	t.Helper()
	c.Isolation = p.level
	if c.AttemptsMax == 0 {
		c.AttemptsMax = 10_000
	}
	g, err := sqlfence.New(db, p.dialect, c)
	require.NoError(t, err)
	return g
}

func (r resource) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	_, err := r.db.ExecContext(context.Background(), r.sql(statement), args...)
	require.NoError(t, err)
}

// number reads one number.
func (r resource) number(t *testing.T, query string, args ...any) int64 {
	t.Helper()
	var n int64
	require.NoError(t, r.db.QueryRowContext(context.Background(), r.sql(query), args...).Scan(&n), query)
	return n
}

// left is what is in the tables: the fence, operations, and the user's counter.
type left struct{ fence, operations, writes int64 }

func (r resource) left(t *testing.T) left {
	t.Helper()
	return left{
		fence:      r.number(t, `SELECT coalesce(max(token), 0) FROM palisade_fence`),
		operations: r.number(t, `SELECT count(*) FROM palisade_operation`),
		writes:     r.number(t, `SELECT writes FROM document`),
	}
}

// increment is a write function: it reads, and writes what it read plus one. A
// counter of SQL would not notice a lost update.
func (r resource) increment(writer any) func(context.Context, *sql.Tx) ([]byte, error) {
	return func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		var writes int64
		if err := tx.QueryRowContext(ctx, `SELECT writes FROM document`).Scan(&writes); err != nil {
			return nil, err
		}
		_, err := tx.ExecContext(ctx, r.sql(`UPDATE document SET writes = $1, writer = $2`), writes+1, writer)
		return fmt.Append(nil, writes+1), err
	}
}
