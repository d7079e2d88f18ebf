package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/palisade-go/palisade/bench/crew"
)

// The statements. All keys are taken in one, in one order everywhere.
const (
	lock = `SELECT pg_advisory_lock(key) FROM
		(SELECT hashtextextended(name, 0) AS key FROM unnest($1::text[]) AS name ORDER BY key) AS keys`
	unlock = `SELECT pg_advisory_unlock_all()`
)

// locker takes keys with a connection of its own.
type locker struct{ conn *pgx.Conn }

// Dial opens a locker at a server. PostgreSQL has no TTL: the locks end with the
// connection.
func Dial(ctx context.Context, address string, _ time.Duration) (crew.Locker, error) {
	conn, err := pgx.Connect(ctx, "postgres://"+user+"@"+address+"/postgres?sslmode=disable")
	if err != nil {
		return nil, err
	}
	return &locker{conn}, nil
}

func (l *locker) Acquire(ctx context.Context, keys []string) error {
	_, err := l.conn.Exec(ctx, lock, keys)
	return err
}

func (l *locker) Release(ctx context.Context) error {
	_, err := l.conn.Exec(ctx, unlock)
	return err
}

// Close ends the connection and with it what it holds.
func (l *locker) Close() error { return l.conn.Close(context.Background()) }
