package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// number is one of the series that the pages of a month are numbered with.
type number int

// export is what the database has of a month, read without a lease and without
// a fence: the facts that the story looks at.
type export struct {
	pages     int
	documents string // of all pages
	numbers   string // of the pages, in their order, as "1 2 3"
	taken     number // the last one that the series has given
	orders    int    // by the sums of the last page
	cents     int64  // by the sums of the last page
	last      int64  // the last order of the month
	ordered   struct {
		orders int
		cents  int64
	}
	missing []int64 // orders that have no invoice
	twice   []int64 // orders that have more than one
}

// export reads the facts of a month.
func (l *ledger) export(ctx context.Context, month string) (e export, err error) {
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one view of all tables
	if err != nil {
		return export{}, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	if err := e.readPages(ctx, tx, month); err != nil {
		return export{}, fmt.Errorf("read the pages: %w", err)
	}
	if err := e.lookFor(ctx, tx, month); err != nil {
		return export{}, fmt.Errorf("read the orders: %w", err)
	}
	err = tx.QueryRowContext(ctx, "SELECT coalesce(max(last), 0) FROM series WHERE month = ?", month).Scan(&e.taken)
	return e, err
}

// readPages reads the pages of a month.
func (e *export) readPages(ctx context.Context, tx *sql.Tx, month string) error {
	rows, err := tx.QueryContext(ctx,
		"SELECT number, orders, cents, document FROM pages WHERE month = ? ORDER BY step", month)
	if err != nil {
		return err
	}
	defer rows.Close()
	var numbers []string
	for rows.Next() {
		var number, document string
		if err := rows.Scan(&number, &e.orders, &e.cents, &document); err != nil {
			return err
		}
		numbers = append(numbers, number)
		e.documents += document
	}
	e.pages, e.numbers = len(numbers), strings.Join(numbers, " ")
	return rows.Err()
}

// lookFor looks in the documents for the invoice of each order of a month.
func (e *export) lookFor(ctx context.Context, tx *sql.Tx, month string) error {
	rows, err := tx.QueryContext(ctx, "SELECT id, customer, cents FROM orders WHERE month = ? ORDER BY id", month)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var o order
		if err := rows.Scan(&o.id, &o.customer, &o.cents); err != nil {
			return err
		}
		e.last = o.id
		e.ordered.orders++
		e.ordered.cents += o.cents
		switch strings.Count(e.documents, "\n"+invoice(o)) {
		case 0:
			e.missing = append(e.missing, o.id)
		case 1:
		default:
			e.twice = append(e.twice, o.id)
		}
	}
	return rows.Err()
}

// complete says whether each order has its invoice, once, and the sums are
// right.
func (e export) complete() bool {
	return len(e.missing) == 0 && len(e.twice) == 0 && e.orders == e.ordered.orders && e.cents == e.ordered.cents
}

func (e export) equal(other export) bool { return reflect.DeepEqual(e, other) }

// String leaves out the text of the documents.
func (e export) String() string {
	return fmt.Sprintf("%d pages with the numbers %s of %d, sums of %d orders and %s, while there are %d orders of %s, "+
		"of which %v have no invoice and %v have more than one", e.pages, e.numbers, e.taken, e.orders, money(e.cents),
		e.ordered.orders, money(e.ordered.cents), e.missing, e.twice)
}
