package drivertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// openExample makes a database with a table of a program.
func openExample(ctx context.Context) (db *sql.DB, closeAll func()) {
	dir, err := os.MkdirTemp("", "sqlfence")
	if err != nil {
		log.Fatal(err)
	}
	db, err = sql.Open("sqlite", "file:"+filepath.Join(dir, "shop.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, `
		CREATE TABLE account (id TEXT PRIMARY KEY, cents BIGINT NOT NULL, last_fence BIGINT NOT NULL);
		INSERT INTO account VALUES ('ada', 1000, 0)`); err != nil {
		log.Fatal(err)
	}
	return db, func() {
		_ = db.Close()
		_ = os.RemoveAll(dir)
	}
}

// A guarded write of two owners, of which the first comes late.
func Example_guard() {
	ctx := context.Background() // in a program: lease.Context()
	db, closeAll := openExample(ctx)
	defer closeAll()
	if err := sqlfence.Migrate(ctx, db, sqlfence.SQLite); err != nil {
		log.Fatal(err)
	}
	guard, err := sqlfence.New(db, sqlfence.SQLite, sqlfence.Config{})
	if err != nil {
		log.Fatal(err)
	}

	fee := func(fence token.Token, operation token.Operation) {
		w := token.Write{Resource: "account/ada", Token: fence, Operation: operation}
		receipt, err := guard.Do(ctx, w, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			var cents int64
			err := tx.QueryRowContext(ctx, `UPDATE account SET cents = cents - 100 WHERE id = 'ada' RETURNING cents`).Scan(&cents)
			return fmt.Append(nil, cents), err
		})
		fmt.Printf("token %v, %s: left %s, repeated %v, stale %v\n",
			fence, operation, receipt.Value, receipt.Repeated, errors.Is(err, token.ErrStale))
	}
	fee(33, "fee of May")
	fee(34, "fee of May") // the next owner can't know that it was done
	fee(34, "fee of June")
	fee(33, "fee of July") // the first owner wakes up
	// Output:
	// token 33, fee of May: left 900, repeated false, stale false
	// token 34, fee of May: left 900, repeated true, stale false
	// token 34, fee of June: left 800, repeated false, stale false
	// token 33, fee of July: left , repeated false, stale true
}

// The plain pattern: a condition in the statement, and no table of a guard.
func Example_plain() {
	ctx := context.Background()
	db, closeAll := openExample(ctx)
	defer closeAll()

	set := func(id string, cents int64, fence token.Token) error {
		return sqlfence.Wrote(db.ExecContext(ctx,
			`UPDATE account SET cents = ?2, last_fence = ?3 WHERE id = ?1 AND last_fence <= ?3`, id, cents, fence))
	}
	fmt.Println(set("ada", 900, 34))
	fmt.Println(set("ada", 950, 33))
	fmt.Println(set("eve", 0, 34))
	// Output:
	// <nil>
	// sqlfence: not written: a later owner has written, or there is no such row
	// sqlfence: not written: a later owner has written, or there is no such row
}
