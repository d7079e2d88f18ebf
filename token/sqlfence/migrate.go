package sqlfence

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// SchemaVersion is the version of the tables that this package works with.
const SchemaVersion = 1

// Schema returns the statements that make the tables, as text to read and to
// put into migrations of one's own; empty if d is none. Each may be run again
// and then does nothing. The names of the tables have no schema: PostgreSQL
// puts and looks for them where the connection's search_path says.
func Schema(d Dialect) string { return d.words().schema }

// Migrate makes the tables if they are not there. It may be called at each
// start, by any number of processes at once, and waits for the one that is at
// it until ctx ends. If the tables are there it only reads, so a program needs
// no right to make tables then. On failure nothing is left, but for
// token.ErrUnknown, after which it may be called again. ErrSchema says that a
// later version of this package has made the tables.
func Migrate(ctx context.Context, db *sql.DB, d Dialect) error {
	// Read committed: what a process that waited for the lock sees is no older
	// than the lock.
	level := sql.LevelReadCommitted
	if d == SQLite {
		level = sql.LevelDefault
	}
	g, err := New(db, d, Config{Isolation: level})
	if err != nil {
		return err
	}
	found := 0
	err = g.attempts.run(ctx, func() error {
		found, err = g.version(ctx, db)
		return err
	})
	if err != nil || found == SchemaVersion {
		return finished(ctx, err)
	}
	return g.begin(ctx, func(tx *sql.Tx) (commit bool, err error) {
		if lock := g.words.lockMigrations; lock != "" {
			if _, err := tx.ExecContext(ctx, lock); err != nil {
				return false, fmt.Errorf("sqlfence: wait for another migration: %w", err)
			}
		}
		if _, err := g.version(ctx, tx); err != nil {
			return false, err
		}
		for _, statement := range statements(g.words.schema) {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return false, fmt.Errorf("sqlfence: make the tables: %w", err)
			}
		}
		return true, nil
	})
}

// querier is what can be asked, a database or a transaction of it.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version returns the version of the tables, zero if there are none.
func (g *Guard) version(ctx context.Context, from querier) (int, error) {
	var exists bool
	if err := from.QueryRowContext(ctx, g.words.exists).Scan(&exists); err != nil {
		return 0, fmt.Errorf("sqlfence: look for the tables: %w", err)
	}
	if !exists {
		return 0, nil
	}
	var version sql.Null[int]
	err := from.QueryRowContext(ctx, `SELECT max(version) FROM palisade_schema`).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("sqlfence: read the version of the tables: %w", err)
	}
	if version.V > SchemaVersion {
		return 0, fmt.Errorf("%w: the tables have version %d, and this package knows up to %d",
			ErrSchema, version.V, SchemaVersion)
	}
	return version.V, nil
}

// statements splits a schema. Not every driver takes several at once; and a
// semicolon ends a line in these files and is nowhere else.
func statements(schema string) []string {
	var list []string
	for _, statement := range strings.Split(schema, ";\n") {
		if strings.TrimSpace(statement) != "" {
			list = append(list, statement)
		}
	}
	return list
}
