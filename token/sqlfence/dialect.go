package sqlfence

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// Dialect says which database it is that a guard talks to. The zero value is
// none.
type Dialect uint8

const (
	// PostgreSQL is PostgreSQL 10 or later.
	PostgreSQL Dialect = 1 + iota
	// SQLite is SQLite 3.24 or later.
	SQLite
)

// String returns the database's name.
func (d Dialect) String() string {
	switch d {
	case PostgreSQL:
		return "PostgreSQL"
	case SQLite:
		return "SQLite"
	}
	return fmt.Sprintf("Dialect(%d)", uint8(d))
}

// database is what the dialects do differently.
type database interface {
	// hold locks the fence of w's resource until the end of tx, and makes it
	// if there is none. It has the first statement of tx.
	hold(ctx context.Context, tx *sql.Tx, w token.Write) (fence, error)
	// raise sets the fence to w's token, also if it is that already. If tx is no
	// longer the transaction that held the fence, it changes nothing and returns
	// ErrEnded.
	raise(ctx context.Context, tx *sql.Tx, w token.Write, held fence) error
	// again says whether the database ended a transaction with err for the sake
	// of another one.
	again(err error) bool
	// undone says whether err, the answer to a COMMIT, means that nothing was
	// committed.
	undone(err error) bool
}

// fence is a fence's row as a transaction found it.
type fence struct {
	highest token.Token // zero: there was none
	// transaction is PostgreSQL's number of the transaction that holds it.
	transaction int64
}

// words are the texts of a dialect's statements that only differ in spelling.
type words struct {
	schema         string
	exists         string // whether palisade_schema is there
	lockMigrations string // none if empty
	recall         string
	record         string
	forget         string
	highest        string
}

// database returns what d does, nil if d is none.
func (d Dialect) database() database {
	switch d {
	case PostgreSQL:
		return postgres{}
	case SQLite:
		return sqlite{}
	}
	return nil
}

// words returns d's statements.
func (d Dialect) words() words {
	switch d {
	case PostgreSQL:
		return postgresWords
	case SQLite:
		return sqliteWords
	}
	return words{}
}

// levels lists the isolation levels that d offers. LevelDefault is what the
// database is set to.
func (d Dialect) levels() []sql.IsolationLevel {
	if d == PostgreSQL {
		return []sql.IsolationLevel{
			sql.LevelDefault, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable,
		}
	}
	return []sql.IsolationLevel{sql.LevelDefault, sql.LevelSerializable}
}
