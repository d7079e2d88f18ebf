package drivertest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
)

// postgresVariable has the connection string of a superuser.
const postgresVariable = "PALISADE_POSTGRES"

// postgresConfig returns how to connect to the server, or skips the test.
func postgresConfig(t *testing.T) *pgx.ConnConfig {
	t.Helper()
	dsn := os.Getenv(postgresVariable)
	if dsn == "" {
		const how = postgresVariable + " is not set: `bash .ci/run databases` starts a PostgreSQL and sets it"
		if os.Getenv("CI") != "" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	c, err := pgx.ParseConfig(dsn)
	require.NoError(t, err)
	return c
}

func openPostgres(t *testing.T) func(*testing.T) *sql.DB {
	return connectTo(inOwnSchema(t, postgresConfig(t)))
}

// openPostgresSimply sends no prepared statements, as behind a pooler that
// gives each transaction another connection.
func openPostgresSimply(t *testing.T) func(*testing.T) *sql.DB {
	c := inOwnSchema(t, postgresConfig(t))
	c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	return connectTo(c)
}

func connectTo(c *pgx.ConnConfig) func(*testing.T) *sql.DB {
	return func(t *testing.T) *sql.DB { return pool(t, stdlib.OpenDB(*c)) }
}

// inOwnSchema makes a schema for the test and drops it at its end.
func inOwnSchema(t *testing.T, c *pgx.ConnConfig) *pgx.ConnConfig {
	t.Helper()
	schema := "palisade_test_" + strings.ToLower(rand.Text())
	run := func(statement string) {
		db := stdlib.OpenDB(*c)
		defer db.Close()
		_, err := db.ExecContext(context.Background(), statement)
		require.NoError(t, err)
	}
	run(`CREATE SCHEMA ` + schema)
	// A test that failed may have left a transaction open.
	t.Cleanup(func() { run(`SET lock_timeout = '10s'; DROP SCHEMA ` + schema + ` CASCADE`) })
	own := c.Copy()
	own.RuntimeParams["search_path"] = schema
	return own
}
