package sqlfence

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"maps"
	"testing"
)

// fakeDB is a database of one connection at a time that knows the statements
// of the PostgreSQL dialect and two of a user. It stands in for a server where a
// test needs an answer that no real one gives on demand.
type fakeDB struct {
	committed state
	open      *state // of the transaction that runs
	number    int64  // of that transaction
	rollbacks int
	old       int64    // operations that Forget would find
	forgets   [][2]any // the arguments of its statements

	// before is asked before each statement, begin and commit; an error of it is
	// the answer, and nothing is done. after is asked after.
	before, after func(statement string) error
}

type state struct {
	fences     map[string]any
	operations map[[2]string]record
	data       []string
}

type record struct{ token, value any }

const (
	begin       = "BEGIN"
	commit      = "COMMIT"
	userWrites  = "user writes"
	userCommits = "user commits"
)

func newFakeDB(t *testing.T) (*fakeDB, *sql.DB) {
	t.Helper()
	f := &fakeDB{committed: state{fences: map[string]any{}, operations: map[[2]string]record{}}}
	db := sql.OpenDB(f)
	t.Cleanup(func() { _ = db.Close() })
	return f, db
}

func (s state) clone() state {
	return state{maps.Clone(s.fences), maps.Clone(s.operations), append([]string(nil), s.data...)}
}

// Connect is of driver.Connector, Driver too.
func (f *fakeDB) Connect(context.Context) (driver.Conn, error) { return fakeConn{f}, nil }
func (f *fakeDB) Driver() driver.Driver                        { return nil }

type fakeConn struct{ f *fakeDB }

func (fakeConn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("no prepared statements")
}
func (fakeConn) Close() error { return nil }
func (c fakeConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c fakeConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	return c, c.f.do(begin, func() {
		opened := c.f.committed.clone()
		c.f.open = &opened
		c.f.number++
	})
}

func (c fakeConn) Commit() error {
	return c.f.do(commit, func() {
		if c.f.open != nil {
			c.f.committed = *c.f.open
		}
		c.f.open = nil
	})
}

func (c fakeConn) Rollback() error {
	c.f.rollbacks++
	c.f.open = nil
	return nil
}

// do asks before and after around an effect.
func (f *fakeDB) do(statement string, effect func()) error {
	if f.before != nil {
		if err := f.before(statement); err != nil {
			return err
		}
	}
	effect()
	if f.after != nil {
		return f.after(statement)
	}
	return nil
}

// rows are what a statement returns: none or one.
type rows struct {
	values  []driver.Value
	changed int64
}

func (c fakeConn) ExecContext(_ context.Context, statement string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.run(statement, args)
	return driver.RowsAffected(result.changed), err
}

func (c fakeConn) QueryContext(_ context.Context, statement string, args []driver.NamedValue) (driver.Rows, error) {
	result, err := c.run(statement, args)
	return &result, err
}

func (c fakeConn) run(statement string, args []driver.NamedValue) (result rows, err error) {
	arg := func(i int) any { return args[i].Value }
	err = c.f.do(statement, func() {
		s := &c.f.committed
		if c.f.open != nil {
			s = c.f.open
		}
		switch statement {
		case postgresLock:
			if found, ok := s.fences[arg(0).(string)]; ok {
				result.values = []driver.Value{found, c.f.number}
			}
		case postgresMake:
			if _, ok := s.fences[arg(0).(string)]; !ok {
				s.fences[arg(0).(string)] = arg(1)
				result.values = []driver.Value{c.f.number}
			}
		case postgresRaise:
			if c.f.open != nil && arg(2) == c.f.number {
				s.fences[arg(0).(string)] = arg(1)
				result.changed = 1
			}
		case postgresWords.recall:
			if found, ok := s.operations[[2]string{arg(0).(string), arg(1).(string)}]; ok {
				result.values = []driver.Value{found.token, found.value}
			}
		case postgresWords.record:
			s.operations[[2]string{arg(0).(string), arg(1).(string)}] = record{arg(2), arg(3)}
			result.changed = 1
		case postgresWords.highest:
			if found, ok := s.fences[arg(0).(string)]; ok {
				result.values = []driver.Value{found}
			}
		case postgresWords.forget:
			c.f.forgets = append(c.f.forgets, [2]any{arg(0), arg(1)})
			result.changed = min(c.f.old, arg(1).(int64))
			c.f.old -= result.changed
		case userWrites:
			s.data = append(s.data, arg(0).(string))
			result.changed = 1
		case userCommits: // as SQL, behind the back of database/sql
			c.f.committed, c.f.open = *c.f.open, nil
		default:
			panic("the fake does not know " + statement)
		}
	})
	return result, err
}

// Columns is of driver.Rows, Close and Next too.
func (r *rows) Columns() []string { return make([]string, len(r.values)) }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(into []driver.Value) error {
	if r.values == nil {
		return io.EOF
	}
	copy(into, r.values)
	r.values = nil
	return nil
}
