package drivertest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

func TestManyMigrateAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		const processes = 8
		connect := p.open(t)
		start, done := make(chan struct{}), make(chan error, processes)
		for range processes {
			db := connect(t)
			go func() {
				<-start
				done <- sqlfence.Migrate(context.Background(), db, p.dialect)
			}()
		}
		close(start)
		for range processes {
			require.NoError(t, <-done)
		}
		r := resource{place: p, db: connect(t)}
		require.EqualValues(t, 1, r.number(t, `SELECT count(*) FROM palisade_schema`))
		require.EqualValues(t, sqlfence.SchemaVersion, r.number(t, `SELECT version FROM palisade_schema`))
	})
}

func TestMigrateKeepsWhatIsThere(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		w := token.Write{Resource: "document", Token: 5, Operation: "export"}
		_, err := r.guard.Do(context.Background(), w, r.increment(5))
		require.NoError(t, err)
		require.NoError(t, sqlfence.Migrate(context.Background(), r.db, p.dialect))
		require.Equal(t, left{fence: 5, operations: 1, writes: 1}, r.left(t))
	})
}

func TestTheSchemaCanBeRunByHand(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := resource{place: p, db: p.open(t)(t)}
		for range 2 {
			r.exec(t, sqlfence.Schema(p.dialect))
		}
		require.NoError(t, sqlfence.Migrate(context.Background(), r.db, p.dialect))
		require.NoError(t, newGuard(t, p, r.db, sqlfence.Config{}).Accept(context.Background(),
			token.Write{Resource: "document", Token: 5}))
	})
}

func TestALaterSchemaIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		r.exec(t, `INSERT INTO palisade_schema (version) VALUES ($1)`, sqlfence.SchemaVersion+1)
		err := sqlfence.Migrate(context.Background(), r.db, p.dialect)
		require.ErrorIs(t, err, sqlfence.ErrSchema)
		require.ErrorContains(t, err, "have version 2, and this package knows up to 1")
	})
}

func TestAMigrationThatWasNotFinishedIs(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		r.exec(t, `DELETE FROM palisade_schema`)
		r.exec(t, `DROP TABLE palisade_operation`)
		require.NoError(t, sqlfence.Migrate(context.Background(), r.db, p.dialect))
		require.Equal(t, left{}, r.left(t))
		require.EqualValues(t, 1, r.number(t, `SELECT version FROM palisade_schema`))
	})
}

// A program's role often may not make tables.
func TestMigrateNeedsNoRightsWhereNothingIsToBeDone(t *testing.T) {
	c := inOwnSchema(t, postgresConfig(t))
	owner := connectTo(c)(t)
	require.NoError(t, sqlfence.Migrate(context.Background(), owner, sqlfence.PostgreSQL))
	r := resource{place: postgresAt(sql.LevelDefault), db: owner}
	schema := c.RuntimeParams["search_path"]
	role := "role_of_" + schema
	r.exec(t, `CREATE ROLE `+role)
	t.Cleanup(func() {
		db := stdlib.OpenDB(*c)
		defer db.Close()
		_, err := db.ExecContext(context.Background(), `DROP OWNED BY `+role+`; DROP ROLE `+role)
		require.NoError(t, err)
	})
	r.exec(t, `GRANT USAGE ON SCHEMA `+schema+` TO `+role)
	r.exec(t, `GRANT SELECT ON palisade_schema TO `+role)
	r.exec(t, `GRANT SELECT, INSERT, UPDATE ON palisade_fence TO `+role)
	r.exec(t, `GRANT SELECT, INSERT, DELETE ON palisade_operation TO `+role)

	limited := c.Copy()
	limited.RuntimeParams["role"] = role
	db := connectTo(limited)(t)
	ctx := context.Background()
	require.NoError(t, sqlfence.Migrate(ctx, db, sqlfence.PostgreSQL))
	g := newGuard(t, r.place, db, sqlfence.Config{})
	_, err := g.Do(ctx, token.Write{Resource: "document", Token: 5, Operation: "export"},
		func(context.Context, *sql.Tx) ([]byte, error) { return nil, nil })
	require.NoError(t, err, "these are all the rights that a guard needs")
	require.NoError(t, g.Accept(ctx, token.Write{Resource: "document", Token: 6}))
	_, err = g.Forget(ctx, forgetAge)
	require.NoError(t, err)
	_, err = db.ExecContext(ctx, `CREATE TABLE other (id bigint)`)
	require.ErrorContains(t, err, "42501", "the role is limited")
}
