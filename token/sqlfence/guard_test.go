package sqlfence

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// fakeGuard is a guard over a fake, with what a write by it leaves.
func fakeGuard(t *testing.T, c Config) (*fakeDB, *Guard) {
	t.Helper()
	f, db := newFakeDB(t)
	g, err := New(db, PostgreSQL, c)
	require.NoError(t, err)
	g.attempts.pause = func(context.Context, int) error { return nil }
	return f, g
}

// writes returns a write function that adds text and returns value.
func writes(text, value string) func(context.Context, *sql.Tx) ([]byte, error) {
	return func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		_, err := tx.ExecContext(ctx, userWrites, text)
		return []byte(value), err
	}
}

func write(t token.Token, operation token.Operation) token.Write {
	return token.Write{Resource: "document", Token: t, Operation: operation}
}

func TestNewRefusesWhatItCantKeep(t *testing.T) {
	_, db := newFakeDB(t)
	for name, row := range map[string]struct {
		db   *sql.DB
		d    Dialect
		c    Config
		says []string
	}{
		"no database":     {nil, SQLite, Config{}, []string{"db is nil"}},
		"no dialect":      {db, 0, Config{}, []string{"dialect: Dialect(0) is neither PostgreSQL nor SQLite"}},
		"unknown dialect": {db, 3, Config{}, []string{"dialect: Dialect(3)"}},
		"dirty reads": {db, PostgreSQL, Config{Isolation: sql.LevelReadUncommitted},
			[]string{"Isolation: PostgreSQL does not offer Read Uncommitted"}},
		"snapshot":     {db, PostgreSQL, Config{Isolation: sql.LevelSnapshot}, []string{"Isolation"}},
		"linearizable": {db, PostgreSQL, Config{Isolation: sql.LevelLinearizable}, []string{"Isolation"}},
		"SQLite with a level that it has not": {db, SQLite, Config{Isolation: sql.LevelReadCommitted},
			[]string{"Isolation: SQLite does not offer Read Committed"}},
		"negative attempts": {db, SQLite, Config{AttemptsMax: -1}, []string{"AttemptsMax: -1 is negative"}},
		"all at once": {nil, SQLite, Config{Isolation: sql.LevelSnapshot, AttemptsMax: -2},
			[]string{"db is nil", "Isolation", "AttemptsMax"}},
	} {
		g, err := New(row.db, row.d, row.c)
		require.ErrorIs(t, err, token.ErrInvalid, name)
		require.Nil(t, g, name)
		for _, says := range row.says {
			require.ErrorContains(t, err, says, name)
		}
	}
	for d, levels := range map[Dialect][]sql.IsolationLevel{
		PostgreSQL: {sql.LevelDefault, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable},
		SQLite:     {sql.LevelDefault, sql.LevelSerializable},
	} {
		for _, level := range levels {
			_, err := New(db, d, Config{Isolation: level})
			require.NoError(t, err, "%v at %v", d, level)
		}
	}
}

func TestBadArgumentsReachNoDatabase(t *testing.T) {
	f, g := fakeGuard(t, Config{})
	f.before = func(statement string) error { panic("asked: " + statement) }
	ctx := context.Background()
	good := writes("never", "")
	for name, w := range map[string]token.Write{
		"no resource":    {Token: 5},
		"zero token":     {Resource: "document"},
		"64 bits":        {Resource: "document", Token: 1<<63 | 1},
		"long resource":  {Resource: strings.Repeat("r", 513), Token: 5},
		"long operation": {Resource: "document", Token: 5, Operation: token.Operation(strings.Repeat("o", 256))},
	} {
		_, err := g.Do(ctx, w, good)
		require.ErrorIs(t, err, token.ErrInvalid, name)
		_, err = g.DoOnce(ctx, w, good)
		require.ErrorIs(t, err, token.ErrInvalid, name)
		require.ErrorIs(t, g.Accept(ctx, w), token.ErrInvalid, name)
	}
	_, err := g.Do(ctx, write(5, ""), nil)
	require.ErrorIs(t, err, token.ErrInvalid)
	require.ErrorContains(t, err, `nil function for resource "document"`)
	err = g.Accept(ctx, write(5, "export"))
	require.ErrorIs(t, err, token.ErrInvalid)
	require.ErrorContains(t, err, `was given "export"`)
	_, err = g.Highest(ctx, "a\x00b")
	require.ErrorIs(t, err, token.ErrInvalid)
}

func TestAWriteThatCantEndWellIsRolledBack(t *testing.T) {
	broken := errors.New("broken")
	ctx, cancel := context.WithCancelCause(context.Background())
	lost := errors.New("the lease is lost")
	for name, row := range map[string]struct {
		fn   func(ctx context.Context, tx *sql.Tx) ([]byte, error)
		want []error
	}{
		"an error":                 {func(ctx context.Context, tx *sql.Tx) ([]byte, error) { return nil, broken }, []error{broken}},
		"a value that is too long": {writes("text", strings.Repeat("v", 65537)), []error{token.ErrInvalid}},
		"a rollback of its own": {func(_ context.Context, tx *sql.Tx) ([]byte, error) {
			return nil, tx.Rollback()
		}, []error{ErrEnded}},
		"a context that ends": {func(ctx context.Context, _ *sql.Tx) ([]byte, error) {
			cancel(lost)
			<-ctx.Done()
			return nil, nil
		}, []error{context.Canceled, lost}},
	} {
		t.Run(name, func(t *testing.T) {
			f, g := fakeGuard(t, Config{})
			_, err := g.Do(ctx, write(5, "export"), func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
				_, err := writes("text", "")(ctx, tx)
				require.NoError(t, err)
				return row.fn(ctx, tx)
			})
			for _, want := range row.want {
				require.ErrorIs(t, err, want)
			}
			require.NotErrorIs(t, err, token.ErrUnknown)
			require.Empty(t, f.committed.data)
			require.Empty(t, f.committed.fences)
			require.Empty(t, f.committed.operations)
		})
		if ctx.Err() != nil { // the next row needs one that has not ended
			ctx, cancel = context.WithCancelCause(context.Background())
		}
	}
	cancel(nil)
}

func TestTheLongestValueIsKept(t *testing.T) {
	_, g := fakeGuard(t, Config{})
	longest := strings.Repeat("v", 65536)
	for _, repeated := range []bool{false, true} {
		receipt, err := g.Do(context.Background(), write(5, "export"), writes("text", longest))
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 5, Value: []byte(longest), Repeated: repeated}, receipt)
	}
}

func TestAnEmptyValueIsNilEachTime(t *testing.T) {
	f, g := fakeGuard(t, Config{})
	for _, repeated := range []bool{false, true} {
		receipt, err := g.Do(context.Background(), write(5, "export"), writes("text", ""))
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 5, Repeated: repeated}, receipt)
	}
	require.NotNil(t, f.committed.operations[[2]string{"document", "export"}].value, "the column takes no NULL")
}

func TestPanicAndGoexitRollBack(t *testing.T) {
	f, g := fakeGuard(t, Config{})
	leave := func(by func()) {
		var wait sync.WaitGroup
		wait.Add(1)
		go func() {
			defer wait.Done()
			defer func() { _ = recover() }()
			_, _ = g.Do(context.Background(), write(5, "export"), func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
				_, err := writes("text", "")(ctx, tx)
				by()
				return nil, err
			})
		}()
		wait.Wait()
	}
	for n, by := range []func(){func() { panic("on purpose") }, runtime.Goexit} {
		leave(by)
		require.Equal(t, n+1, f.rollbacks)
		require.Empty(t, f.committed.data)
		require.Empty(t, f.committed.fences)
	}
	_, err := g.Do(context.Background(), write(5, "export"), writes("text", ""))
	require.NoError(t, err, "the connection is free again")
}

func TestAWriteThatCommitsByItselfIsNoSuccess(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, tx *sql.Tx) error{
		"through database/sql": func(_ context.Context, tx *sql.Tx) error { return tx.Commit() },
		"as a statement": func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, userCommits)
			return err
		},
	} {
		f, g := fakeGuard(t, Config{})
		_, err := g.Do(context.Background(), write(5, ""), writes("before", ""))
		require.NoError(t, err)
		_, err = g.Do(context.Background(), write(6, "export"), func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			return nil, end(ctx, tx)
		})
		require.ErrorIs(t, err, ErrEnded, name)
		require.Equal(t, map[string]any{"document": int64(5)}, f.committed.fences, name)
		require.Empty(t, f.committed.operations, name)
	}
}

func TestWhatChangesNothingCommitsNothing(t *testing.T) {
	f, g := fakeGuard(t, Config{})
	ctx := context.Background()
	_, err := g.Do(ctx, write(5, "export"), writes("text", ""))
	require.NoError(t, err)
	f.before = func(statement string) error {
		if statement == postgresRaise || statement == commit {
			return errors.New("not wanted: " + statement)
		}
		return nil
	}
	require.NoError(t, g.Accept(ctx, write(5, "")), "an equal token is there already")
	for _, n := range []token.Token{4, 5} {
		receipt, err := g.Do(ctx, write(n, "export"), writes("text", ""))
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 5, Repeated: true}, receipt)
	}
}

func TestDamagedRowsAreRefused(t *testing.T) {
	for name, column := range map[string]any{
		"negative": int64(-1), "zero": int64(0), "above 63 bits": "9223372036854775808", "NULL": nil,
		"no number": "ten", "a float": 1.5, "no counter": int64(1 << 53),
	} {
		f, g := fakeGuard(t, Config{})
		ctx := context.Background()
		f.committed.fences["document"] = column
		_, err := g.Do(ctx, write(5, ""), writes("text", ""))
		require.ErrorIs(t, err, ErrDamaged, name)
		require.NotErrorIs(t, err, token.ErrInvalid, name)
		require.ErrorContains(t, err, `token of the fence of resource "document"`, name)
		require.ErrorIs(t, g.Accept(ctx, write(5, "")), ErrDamaged, name)
		_, err = g.Highest(ctx, "document")
		require.ErrorIs(t, err, ErrDamaged, name)

		f.committed.fences["document"] = int64(4)
		f.committed.operations[[2]string{"document", "export"}] = record{token: column, value: []byte{}}
		_, err = g.Do(ctx, write(5, "export"), writes("text", ""))
		require.ErrorIs(t, err, ErrDamaged, name)
		require.ErrorContains(t, err, `token of operation "export" of resource "document"`, name)
		require.Empty(t, f.committed.data, name)
	}
}
