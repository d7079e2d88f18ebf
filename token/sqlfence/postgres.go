package sqlfence

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/token"
)

// postgres is the dialect of PostgreSQL.
type postgres struct{}

//go:embed schema/postgresql.sql
var postgresSchema string

// FOR UPDATE waits for a transaction that has the row and reads what that one
// left: the newest row at read committed, error 40001 at the levels above.
//
// txid_current gives the transaction its number, which raise compares.
const (
	postgresLock = `SELECT token, txid_current() FROM palisade_fence WHERE resource = $1 FOR UPDATE`
	postgresMake = `INSERT INTO palisade_fence (resource, token) VALUES ($1, $2)
ON CONFLICT (resource) DO NOTHING RETURNING txid_current()`
	postgresRaise = `UPDATE palisade_fence SET token = $2
WHERE resource = $1 AND txid_current_if_assigned() = $3`
)

// The key of lockMigrations is the text "palisade" as a number.
var postgresWords = words{
	schema:         postgresSchema,
	exists:         `SELECT to_regclass('palisade_schema') IS NOT NULL`,
	lockMigrations: `SELECT pg_advisory_xact_lock(8097872805151990885)`,
	recall:         `SELECT token, value FROM palisade_operation WHERE resource = $1 AND operation = $2`,
	record: `INSERT INTO palisade_operation (resource, operation, token, value, at)
VALUES ($1, $2, $3, $4, clock_timestamp())`,
	forget: `DELETE FROM palisade_operation WHERE (resource, operation) IN (
SELECT resource, operation FROM palisade_operation
WHERE at < clock_timestamp() - $1::bigint * interval '1 millisecond' ORDER BY at LIMIT $2)`,
	highest: `SELECT token FROM palisade_fence WHERE resource = $1`,
}

// hold goes round again only if the row was made by another transaction after
// the first look, or deleted after the second.
func (postgres) hold(ctx context.Context, tx *sql.Tx, w token.Write) (fence, error) {
	for {
		var found fence
		var column any
		err := tx.QueryRowContext(ctx, postgresLock, w.Resource).Scan(&column, &found.transaction)
		if err == nil {
			found.highest, err = readToken("the fence", w.Resource, column)
			return found, err
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return fence{}, fmt.Errorf("sqlfence: lock the fence: %w", err)
		}
		err = tx.QueryRowContext(ctx, postgresMake, w.Resource, int64(w.Token)).Scan(&found.transaction)
		if err == nil {
			return found, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return fence{}, fmt.Errorf("sqlfence: make the fence: %w", err)
		}
	}
}

// raise writes the row even if its token stays: at repeatable read the next
// transaction, whose snapshot may be older than this write, then gets 40001
// and begins again with a new one. If only the lock passed on, it would go on
// with what it saw before.
func (postgres) raise(ctx context.Context, tx *sql.Tx, w token.Write, held fence) error {
	result, err := tx.ExecContext(ctx, postgresRaise, w.Resource, int64(w.Token), held.transaction)
	if err != nil {
		return fmt.Errorf("sqlfence: raise the fence: %w", endedBy(err))
	}
	return oneRow(result)
}

// sqlStater is how drivers of PostgreSQL say which error it was: those of pgx
// and, from version 1.10, lib/pq do.
type sqlStater interface{ SQLState() string }

func sqlState(err error) string {
	var stater sqlStater
	if errors.As(err, &stater) {
		return stater.SQLState()
	}
	return ""
}

// again knows serialization_failure and deadlock_detected.
func (postgres) again(err error) bool {
	return slices.Contains([]string{"40001", "40P01"}, sqlState(err))
}

// undone knows the classes of errors by which the server refuses a COMMIT:
// what a deferred constraint or trigger finds, and a rollback for the sake of
// others. Every other class can also be the server's last word on its way
// down, after the commit.
func (postgres) undone(err error) bool {
	const unknownAfterAll = "40003" // statement_completion_unknown
	state := sqlState(err)
	return len(state) == 5 && state != unknownAfterAll &&
		slices.Contains([]string{"22", "23", "40", "44", "P0"}, state[:2])
}
