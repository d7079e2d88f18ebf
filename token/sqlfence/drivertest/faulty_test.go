package drivertest

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
)

var errFault = errors.New("fault on purpose")

// faulty is a driver.Connector around a real one. It counts what is asked of
// its connections, and answers one question with an error.
type faulty struct {
	driver.Connector

	mu    sync.Mutex
	at    int  // which question, from 1; 0: none
	after bool // let the real one do it first
	// breaks is a connection that is lost with that question: it answers none
	// any more and the pool closes it. Otherwise only that one question fails.
	breaks bool
	asked  int
	last   string // what was asked at the fault
}

// fault says whether the question of now is the one.
func (f *faulty) fault(question string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.asked == f.at {
		f.last = question
		return true
	}
	return false
}

// isAt says whether the last question was the one.
func (f *faulty) isAt() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked == f.at
}

// Connect is of driver.Connector.
func (f *faulty) Connect(ctx context.Context) (driver.Conn, error) {
	real, err := f.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &faultyConn{Conn: real, f: f}, nil
}

type faultyConn struct {
	driver.Conn
	f      *faulty
	broken bool // database/sql asks a connection one thing at a time
}

// ask lets the real connection do something, or not.
func ask[T any](c *faultyConn, question string, do func() (T, error)) (T, error) {
	var none T
	if c.broken {
		return none, errFault
	}
	if !c.f.fault(question) {
		return do()
	}
	c.broken = c.f.breaks
	if !c.f.after {
		return none, errFault
	}
	got, err := do()
	if err != nil {
		return none, err
	}
	if rows, ok := any(got).(driver.Rows); ok {
		_ = rows.Close()
	}
	return none, errFault
}

// IsValid is of driver.Validator: the pool closes what is broken, and the
// database rolls back as it does when a program ends.
func (c *faultyConn) IsValid() bool { return !c.broken }

// BeginTx is of driver.ConnBeginTx.
func (c *faultyConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	tx, err := ask(c, "BEGIN", func() (driver.Tx, error) {
		tx, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
		if err == nil && c.f.after && !c.f.breaks && c.f.isAt() {
			// A driver that reports a failed BEGIN leaves no transaction open.
			return tx, tx.Rollback()
		}
		return tx, err
	})
	if err != nil {
		return nil, err
	}
	return faultyTx{tx, c}, nil
}

// ExecContext is of driver.ExecerContext.
func (c *faultyConn) ExecContext(ctx context.Context, s string, args []driver.NamedValue) (driver.Result, error) {
	return ask(c, s, func() (driver.Result, error) { return c.Conn.(driver.ExecerContext).ExecContext(ctx, s, args) })
}

// QueryContext is of driver.QueryerContext.
func (c *faultyConn) QueryContext(ctx context.Context, s string, args []driver.NamedValue) (driver.Rows, error) {
	return ask(c, s, func() (driver.Rows, error) { return c.Conn.(driver.QueryerContext).QueryContext(ctx, s, args) })
}

type faultyTx struct {
	driver.Tx
	c *faultyConn
}

// Commit is of driver.Tx.
func (tx faultyTx) Commit() error {
	_, err := ask(tx.c, "COMMIT", func() (struct{}, error) { return struct{}{}, tx.Tx.Commit() })
	if err != nil && !tx.c.broken {
		// As a driver does whose COMMIT failed: the connection is without a
		// transaction.
		_ = tx.Tx.Rollback()
	}
	return err
}

// Rollback is of driver.Tx.
func (tx faultyTx) Rollback() error {
	if tx.c.broken {
		return errFault
	}
	return tx.Tx.Rollback()
}
