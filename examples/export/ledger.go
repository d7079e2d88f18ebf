package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// ledger is the database: the orders that come in, and the pages that the job
// writes. All processes have the same file open.
type ledger struct{ db *sql.DB }

// tables is what the ledger consists of. The fence has tables of its own, in
// the same database, because it is checked in the transaction that writes.
//
// A series has the numbers of a month's pages. It is there to show what is
// done twice: writing a page again leaves the same page, but takes another
// number, and an auditor asks for the missing one.
const tables = `
CREATE TABLE IF NOT EXISTS orders (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	month    TEXT    NOT NULL,
	customer TEXT    NOT NULL,
	cents    INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS orders_of_month ON orders (month, id);
CREATE TABLE IF NOT EXISTS pages (
	month    TEXT    NOT NULL,
	step     INTEGER NOT NULL,
	number   INTEGER NOT NULL,
	orders   INTEGER NOT NULL, -- up to here
	cents    INTEGER NOT NULL, -- up to here
	document TEXT    NOT NULL,
	PRIMARY KEY (month, step)
);
CREATE TABLE IF NOT EXISTS series (
	month TEXT    PRIMARY KEY,
	last  INTEGER NOT NULL
);`

// openLedger opens the file at path, and makes it if it is not there.
//
// _txlock makes each transaction take the right to write when it begins. One
// that has read first, and then finds that another has written, could not be
// saved by waiting.
func openLedger(ctx context.Context, path string) (*ledger, error) {
	options := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)"},
	}
	name := url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: options.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, tables); err != nil {
		return nil, errors.Join(fmt.Errorf("make the tables in %s: %w", path, err), db.Close())
	}
	return &ledger{db}, nil
}

func (l *ledger) close() error { return l.db.Close() }

// add puts orders into a month, as another program would. The lease has nothing
// to do with it.
func (l *ledger) add(ctx context.Context, month string, count int) (err error) {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	for i := range count {
		_, err := tx.ExecContext(ctx, "INSERT INTO orders (month, customer, cents) VALUES (?, ?, ?)",
			month, fmt.Sprintf("customer %d", i%7+1), 100+i*37%900)
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// after returns the orders that follow on a page, in the order of their ids:
// ordersMax, or less if there are no more.
func (l *ledger) after(ctx context.Context, p page) ([]order, error) {
	rows, err := l.db.QueryContext(ctx,
		"SELECT id, customer, cents FROM orders WHERE month = ? AND id > ? ORDER BY id LIMIT ?", p.month, p.last, ordersMax)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []order
	for rows.Next() {
		var o order
		if err := rows.Scan(&o.id, &o.customer, &o.cents); err != nil {
			return nil, err
		}
		found = append(found, o)
	}
	return found, rows.Err()
}

// write puts a page in its place, over the one that is there, and gives it the
// next number of the series, which it returns in decimal. It can be called
// again after its transaction was rolled back.
func (*ledger) write(ctx context.Context, tx *sql.Tx, p page) ([]byte, error) {
	var number int64
	err := tx.QueryRowContext(ctx, `
		INSERT INTO series (month, last) VALUES (?, 1)
		ON CONFLICT (month) DO UPDATE SET last = last + 1 RETURNING last`, p.month).Scan(&number)
	if err != nil {
		return nil, fmt.Errorf("take a number: %w", err)
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO pages (month, step, number, orders, cents, document) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (month, step) DO UPDATE SET number = excluded.number,
			orders = excluded.orders, cents = excluded.cents, document = excluded.document`,
		p.month, p.step, number, p.orders, p.cents, p.document)
	if err != nil {
		return nil, fmt.Errorf("write the page: %w", err)
	}
	return strconv.AppendInt(nil, number, 10), nil
}
