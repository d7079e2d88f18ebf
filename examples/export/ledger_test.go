package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func openTestLedger(t *testing.T) *ledger {
	t.Helper()
	l, err := openLedger(context.Background(), databaseIn(t.TempDir()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.close()) })
	return l
}

// put writes a page without a fence, and returns its number.
func put(t *testing.T, l *ledger, p page) string {
	t.Helper()
	tx, err := l.db.Begin()
	require.NoError(t, err)
	number, err := l.write(context.Background(), tx, p)
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	return string(number)
}

// facts reads what the database has of a month.
func facts(t *testing.T, l *ledger, month string) export {
	t.Helper()
	e, err := l.export(context.Background(), month)
	require.NoError(t, err)
	return e
}

func TestLedger(t *testing.T) {
	ctx := context.Background()
	t.Run("OrdersAreReadAPageAtATimeAndByMonth", func(t *testing.T) {
		l := openTestLedger(t)
		require.NoError(t, l.add(ctx, "2026-10", ordersMax))
		require.NoError(t, l.add(ctx, "2026-11", 1))
		require.NoError(t, l.add(ctx, "2026-10", 2))
		first, err := l.after(ctx, page{month: "2026-10"})
		require.NoError(t, err)
		require.Len(t, first, ordersMax)
		require.EqualValues(t, 1, first[0].id)
		require.EqualValues(t, ordersMax, first[ordersMax-1].id)
		rest, err := l.after(ctx, page{month: "2026-10", last: first[ordersMax-1].id})
		require.NoError(t, err)
		require.Len(t, rest, 2)
		require.EqualValues(t, ordersMax+2, rest[0].id, "the one between is of another month")
		none, err := l.after(ctx, page{month: "2026-12"})
		require.NoError(t, err)
		require.Empty(t, none)
	})
	t.Run("APageReplacesTheOneInItsPlaceAndTakesAnotherNumber", func(t *testing.T) {
		l := openTestLedger(t)
		require.NoError(t, l.add(ctx, "2026-10", 3))
		orders, err := l.after(ctx, page{month: "2026-10"})
		require.NoError(t, err)
		require.Equal(t, "1", put(t, l, page{month: "2026-10"}.next(orders[:2])))
		require.Equal(t, "2", put(t, l, page{month: "2026-10"}.next(orders)))
		require.Equal(t, "1", put(t, l, page{month: "2026-11"}.next(ordersFrom(1, 1))), "each month has a series")
		e := facts(t, l, "2026-10")
		require.True(t, e.complete())
		require.Equal(t, 1, e.pages)
		require.Equal(t, "2", e.numbers)
		require.EqualValues(t, 2, e.taken)
	})
	t.Run("WhatIsRolledBackTakesNoNumber", func(t *testing.T) {
		l := openTestLedger(t)
		tx, err := l.db.Begin()
		require.NoError(t, err)
		_, err = l.write(ctx, tx, page{month: "2026-10"}.next(ordersFrom(1, 1)))
		require.NoError(t, err)
		require.NoError(t, tx.Rollback())
		require.Equal(t, export{}, facts(t, l, "2026-10"))
		require.Equal(t, "1", put(t, l, page{month: "2026-10"}.next(ordersFrom(1, 1))))
	})
	t.Run("ATransactionHasTheRightToWriteFromItsBeginning", func(t *testing.T) {
		l := openTestLedger(t)
		tx, err := l.db.Begin()
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback()) }()
		other, err := sql.Open("sqlite", "file:"+databaseOf(t, l)+"?_pragma=busy_timeout(0)")
		require.NoError(t, err)
		defer other.Close()
		_, err = other.Exec("INSERT INTO series (month, last) VALUES ('2026-10', 7)")
		require.ErrorContains(t, err, "SQLITE_BUSY")
	})
	t.Run("AFileThatCantBeOpenedIsAnError", func(t *testing.T) {
		_, err := openLedger(ctx, filepath.Join(t.TempDir(), "missing", "ledger.db"))
		require.ErrorContains(t, err, "make the tables")
	})
	t.Run("AnyNameOfADirectoryWillDo", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a?b%20c #d")
		require.NoError(t, os.Mkdir(dir, 0o700))
		l, err := openLedger(ctx, databaseIn(dir))
		require.NoError(t, err)
		defer l.close()
		require.FileExists(t, databaseIn(dir))
	})
}

// databaseOf returns the file of a ledger, as SQLite knows it.
func databaseOf(t *testing.T, l *ledger) (path string) {
	t.Helper()
	require.NoError(t, l.db.QueryRow("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&path))
	return path
}
