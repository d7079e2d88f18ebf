package sqlfence

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// stateError is an error of PostgreSQL as drivers return it.
type stateError string

func (e stateError) Error() string    { return "SQLSTATE " + string(e) }
func (e stateError) SQLState() string { return string(e) }

// codeError is an error of SQLite as its driver returns it.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("code %d", int(e)) }
func (e codeError) Code() int     { return int(e) }

// once returns a hook that answers the nth statement from now with err.
func once(n int, err error) func(string) error {
	return func(string) error {
		n--
		if n == 0 {
			return err
		}
		return nil
	}
}

// on returns a hook that answers each of that statement with err.
func on(statement string, err error) func(string) error {
	return func(s string) error {
		if s == statement {
			return err
		}
		return nil
	}
}

// TestTheNthStatementFails lets each statement of a write fail, before its
// effect and after. Then it tries the same operation again.
func TestTheNthStatementFails(t *testing.T) {
	lost := errors.New("connection lost")
	for _, after := range []bool{false, true} {
		failures := 0
		for n := 1; ; n++ {
			f, g := fakeGuard(t, Config{})
			ctx := context.Background()
			hook := once(n, lost)
			if after {
				f.after = hook
			} else {
				f.before = hook
			}
			receipt, err := g.Do(ctx, write(5, "export"), writes("text", "value"))
			name := fmt.Sprintf("statement %d, after its effect: %v", n, after)
			if err == nil { // the hook did not come to its turn
				require.Equal(t, token.Receipt{Token: 5, Value: []byte("value")}, receipt, name)
				break
			}
			failures++
			require.ErrorIs(t, err, lost, name)
			done := len(f.committed.data) > 0
			require.Equal(t, done, len(f.committed.fences) > 0, "%s: the fence and the data", name)
			require.Equal(t, done, len(f.committed.operations) > 0, "%s: the operation and the data", name)
			if done {
				require.ErrorIs(t, err, token.ErrUnknown, name)
			}
			if !errors.Is(err, token.ErrUnknown) {
				require.False(t, done, name)
			}
			f.before, f.after = nil, nil
			receipt, err = g.Do(ctx, write(6, "export"), writes("text", "other"))
			require.NoError(t, err, name)
			require.Equal(t, done, receipt.Repeated, name)
			require.Equal(t, []string{"text"}, f.committed.data, "%s: exactly once", name)
			require.Equal(t, map[string]any{"document": int64(6)}, f.committed.fences, name)
		}
		require.Equal(t, 8, failures, "begin, lock, make, recall, write, raise, record, commit")
	}
}

func TestTheAnswerToACommitIsLost(t *testing.T) {
	for name, err := range map[string]error{
		"the connection":          errors.New("unexpected EOF"),
		"a bad connection":        driver.ErrBadConn,
		"the context":             context.DeadlineExceeded,
		"the server goes down":    stateError("57P01"),
		"it can't say":            stateError("40003"),
		"the server's disk":       stateError("58030"),
		"the server's invariants": stateError("XX000"),
	} {
		for _, effect := range []bool{false, true} {
			f, g := fakeGuard(t, Config{})
			if effect {
				f.after = on(commit, err)
			} else {
				f.before = on(commit, err)
			}
			_, got := g.Do(context.Background(), write(5, "export"), writes("text", "value"))
			require.ErrorIs(t, got, token.ErrUnknown, name)
			require.ErrorIs(t, got, err, name)
			f.before, f.after = nil, nil
			receipt, got := g.Do(context.Background(), write(5, "export"), writes("text", "value"))
			require.NoError(t, got, name)
			require.Equal(t, token.Receipt{Token: 5, Value: []byte("value"), Repeated: effect}, receipt, name)
			require.Equal(t, []string{"text"}, f.committed.data, name)
		}
	}
}

func TestACommitThatIsRefusedIsNotUnknown(t *testing.T) {
	for _, state := range []stateError{"23503", "P0001", "22003", "44000"} {
		f, g := fakeGuard(t, Config{})
		f.before = on(commit, state)
		_, err := g.Do(context.Background(), write(5, "export"), writes("text", ""))
		require.ErrorIs(t, err, state)
		require.NotErrorIs(t, err, token.ErrUnknown)
	}
}

func TestACommitAfterTheContextIsNotSent(t *testing.T) {
	f, g := fakeGuard(t, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	f.before = on(commit, errors.New("sent"))
	f.after = func(statement string) error {
		if statement == postgresWords.record {
			cancel()
		}
		return nil
	}
	_, err := g.Do(ctx, write(5, "export"), writes("text", ""))
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, token.ErrUnknown)
	require.NotContains(t, err.Error(), "sent")
	require.Empty(t, f.committed.data)
}

// hastyContext ends after the first look at it.
type hastyContext struct {
	context.Context
	looks int
}

func (c *hastyContext) Err() error {
	c.looks++
	if c.looks > 1 {
		return context.Canceled
	}
	return nil
}

// database/sql rolls back when the context ends, also between the guard's look
// and its commit, which is then not sent.
func TestACommitThatTheContextForestalledIsNotUnknown(t *testing.T) {
	f, g := fakeGuard(t, Config{})
	f.before = on(commit, errors.New("sent"))
	ctx := &hastyContext{Context: context.Background()}
	err := g.transaction(ctx, func(tx *sql.Tx) (bool, error) { return true, tx.Rollback() })
	require.ErrorIs(t, err, sql.ErrTxDone)
	require.NotErrorIs(t, err, token.ErrUnknown)
	require.NotErrorIs(t, err, ErrEnded)
}

// A write function can leave a goroutine behind that ends the transaction
// after the guard's last statement. If that one committed, all was committed.
func TestAnEndByAGoroutineThatWasLeftIsUnknown(t *testing.T) {
	_, g := fakeGuard(t, Config{})
	err := g.transaction(context.Background(), func(tx *sql.Tx) (bool, error) { return true, tx.Commit() })
	require.ErrorIs(t, err, token.ErrUnknown)
	require.ErrorIs(t, err, ErrEnded)
}

func TestOnlyAnEndForTheSakeOfOthersIsTriedAgain(t *testing.T) {
	for name, row := range map[string]struct {
		d     database
		err   error
		again bool
	}{
		"serialization failure":         {postgres{}, stateError("40001"), true},
		"deadlock":                      {postgres{}, stateError("40P01"), true},
		"wrapped":                       {postgres{}, fmt.Errorf("fn: %w", stateError("40001")), true},
		"completion unknown":            {postgres{}, stateError("40003"), false},
		"lock timeout":                  {postgres{}, stateError("55P03"), false},
		"unique violation":              {postgres{}, stateError("23505"), false},
		"a code is not a state":         {postgres{}, codeError(5), false},
		"no state":                      {postgres{}, errors.New("40001"), false},
		"busy":                          {sqlite{}, codeError(5), true},
		"busy snapshot":                 {sqlite{}, codeError(517), true},
		"busy recovery":                 {sqlite{}, codeError(261), true},
		"locked":                        {sqlite{}, codeError(6), true},
		"locked shared cache":           {sqlite{}, fmt.Errorf("fn: %w", codeError(262)), true},
		"constraint":                    {sqlite{}, codeError(19), false},
		"interrupted":                   {sqlite{}, codeError(9), false},
		"full":                          {sqlite{}, codeError(13), false},
		"I/O error of a lock":           {sqlite{}, codeError(3850), false},
		"a state is not a code":         {sqlite{}, stateError("40001"), false},
		"nothing that it is known from": {sqlite{}, errors.New("busy"), false},
	} {
		require.Equal(t, row.again, row.d.again(row.err), name)
	}
}

func TestWhatACommitWasRefusedFor(t *testing.T) {
	for err, undone := range map[error]bool{
		stateError("40001"): true, stateError("40P01"): true, stateError("40002"): true, stateError("40003"): false,
		stateError("23503"): true, stateError("P0001"): true, stateError("22012"): true, stateError("44000"): true,
		stateError("08006"): false, stateError("53100"): false, stateError("57014"): false, stateError("58030"): false,
		stateError("XX001"): false, stateError(""): false, stateError("4000"): false, stateError("400010"): false,
	} {
		require.Equal(t, undone, postgres{}.undone(err), err.Error())
	}
	for err, undone := range map[error]bool{
		codeError(5): true, codeError(517): true, codeError(6): true, codeError(19): true, codeError(787): true,
		codeError(10): false, codeError(1034): false, codeError(13): false, codeError(1): false, codeError(0): false,
	} {
		require.Equal(t, undone, sqlite{}.undone(err), err.Error())
	}
}
