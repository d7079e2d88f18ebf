package drivertest

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// errLeaseLost stands for the cause of a lease's context.
var errLeaseLost = errors.New("the lease is lost")

// onEachLevel runs a test on PostgreSQL at each level.
func onEachLevel(t *testing.T, test func(t *testing.T, r resource)) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) { test(t, newResource(t, postgresAt(level), sqlfence.Config{})) })
	}
}

// outcome is what a call in a goroutine returned.
type outcome struct {
	receipt token.Receipt
	err     error
}

// goDo makes a guarded write in a goroutine.
func (r resource) goDo(
	ctx context.Context, n token.Token, fn func(context.Context, *sql.Tx) ([]byte, error),
) chan outcome {
	done := make(chan outcome, 1)
	go func() {
		receipt, err := r.guard.Do(ctx, token.Write{Resource: "document", Token: n}, fn)
		done <- outcome{receipt, err}
	}()
	return done
}

// untilBlocked returns when as many sessions wait for a lock of this test's
// tables.
func (r resource) untilBlocked(t *testing.T, sessions int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		var waiting int64
		// The server's own pause: it has no signal for this.
		require.NoError(t, r.db.QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_activity, pg_sleep(0.005)
			WHERE wait_event_type = 'Lock' AND cardinality(pg_blocking_pids(pid)) > 0
			AND pid IN (SELECT pid FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
				WHERE c.relnamespace = current_schema()::regnamespace)`).Scan(&waiting))
		if waiting == sessions {
			return
		}
	}
}

// holds is a write function that increments, says so on holding, and returns
// once goAhead is closed.
func (r resource) holds(writer token.Token, err error) (
	fn func(context.Context, *sql.Tx) ([]byte, error), holding, goAhead chan struct{},
) {
	holding, goAhead = make(chan struct{}, 1), make(chan struct{})
	return func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		value, failed := r.increment(int64(writer))(ctx, tx)
		if failed != nil {
			return nil, failed
		}
		holding <- struct{}{}
		<-goAhead
		return value, err
	}, holding, goAhead
}

// The lease was lost while the transaction waits for the fence: the later owner
// has it.
func TestAWriteBlockedOnTheFenceIsJudgedByWhatItFindsThen(t *testing.T) {
	onEachLevel(t, func(t *testing.T, r resource) {
		meet := func(earlier, later token.Token, end error) outcome {
			fn, holding, goAhead := r.holds(later, end)
			second := r.goDo(context.Background(), later, fn)
			<-holding
			first := r.goDo(context.Background(), earlier, r.increment(int64(earlier)))
			r.untilBlocked(t, 1)
			close(goAhead)
			require.ErrorIs(t, (<-second).err, end)
			return <-first
		}
		require.NoError(t, meet(5, 6, errOnPurpose).err, "the later one's write failed and left nothing")
		require.Equal(t, left{fence: 5, writes: 1}, r.left(t))
		got := meet(7, 8, nil)
		require.Equal(t, &token.StaleError{Resource: "document", Given: 7, Highest: 8}, got.err)
		require.Equal(t, left{fence: 8, writes: 2}, r.left(t))
		require.NoError(t, meet(8, 8, nil).err, "the same owner waits for itself and sees what it wrote")
		require.Equal(t, left{fence: 8, writes: 4}, r.left(t))
	})
}

// What a write function reads is no older than the guarded write before it,
// also if its transaction, and at the higher levels its snapshot, is older.
func TestAWriteThatWaitedReadsWhatTheOneBeforeItWrote(t *testing.T) {
	onEachLevel(t, func(t *testing.T, r resource) {
		// The fence has that token already, so the first write leaves it as it is.
		require.NoError(t, r.guard.Accept(context.Background(), token.Write{Resource: "document", Token: 5}))
		fn, holding, goAhead := r.holds(5, nil)
		before := r.goDo(context.Background(), 5, fn)
		<-holding
		var seen int64
		after := r.goDo(context.Background(), 5, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
			return nil, tx.QueryRowContext(ctx, `SELECT writes FROM document`).Scan(&seen)
		})
		r.untilBlocked(t, 1)
		close(goAhead)
		require.NoError(t, (<-before).err)
		require.NoError(t, (<-after).err)
		require.EqualValues(t, 1, seen, "it only reads that row, so nothing else would tell it")
	})
}

// The plain update waits for the row, not for a fence.
func TestAPlainUpdateBlockedOnTheRowIsNotWrittenAfterAGreaterToken(t *testing.T) {
	onEachLevel(t, func(t *testing.T, r resource) {
		ctx := context.Background()
		plain := func(fence int64) func(*sql.Tx) error {
			return func(tx *sql.Tx) error {
				return sqlfence.Wrote(tx.ExecContext(ctx, plainUpdate, "document", fence))
			}
		}
		meet := func(earlier, later int64, end error) error {
			first := make(chan error, 1)
			err := r.inTransaction(ctx, func(tx *sql.Tx) error {
				require.NoError(t, plain(later)(tx))
				go func() { first <- r.inTransaction(ctx, plain(earlier)) }()
				r.untilBlocked(t, 1)
				return end
			})
			require.ErrorIs(t, err, end)
			return <-first
		}
		require.NoError(t, meet(5, 6, errOnPurpose), "the later one was rolled back")
		err := meet(7, 8, nil)
		if r.level == sql.LevelReadCommitted {
			require.ErrorIs(t, err, sqlfence.ErrNotWritten, "the condition is looked at again")
		} else {
			require.True(t, begunAgain(err), "%v", err)
			require.NotErrorIs(t, err, sqlfence.ErrNotWritten)
			require.ErrorIs(t, r.inTransaction(ctx, plain(7)), sqlfence.ErrNotWritten)
		}
		require.EqualValues(t, 8, r.number(t, `SELECT writer FROM document`))
		require.EqualValues(t, 2, r.number(t, `SELECT writes FROM document`))
	})
}

// lockRow lets a session that is no owner hold the user's row.
func (r resource) lockRow(t *testing.T) (unlock func()) {
	t.Helper()
	tx, err := r.db.BeginTx(context.Background(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	_, err = tx.ExecContext(context.Background(), `SELECT 1 FROM document FOR UPDATE`)
	require.NoError(t, err)
	return func() { require.NoError(t, tx.Rollback()) }
}

// The lease is lost while its write, which holds the fence, is blocked on a row:
// with the lease's context the write ends there and then.
func TestALostLeaseEndsAWriteThatIsBlockedOnARow(t *testing.T) {
	onEachLevel(t, func(t *testing.T, r resource) {
		unlock := r.lockRow(t)
		ctx, lose := context.WithCancelCause(context.Background())
		blocked := r.goDo(ctx, 5, r.increment(5))
		r.untilBlocked(t, 1)
		lose(errLeaseLost)
		got := <-blocked
		require.ErrorIs(t, got.err, context.Canceled)
		require.ErrorIs(t, got.err, errLeaseLost)
		require.NotErrorIs(t, got.err, token.ErrUnknown)

		// The row is still locked, and the fence is free for the next owner.
		require.NoError(t, r.guard.Accept(context.Background(), token.Write{Resource: "document", Token: 6}))
		unlock()
		require.NoError(t, (<-r.goDo(context.Background(), 6, r.increment(6))).err)
		require.Equal(t, left{fence: 6, writes: 1}, r.left(t))
		require.EqualValues(t, 6, r.number(t, `SELECT writer FROM document`))
	})
}

// Without it the write goes on. The later owner's waits behind it, so what it
// writes is not stale: no greater token was accepted before.
func TestWithoutAContextTheFenceStillKeepsTheOrder(t *testing.T) {
	onEachLevel(t, func(t *testing.T, r resource) {
		unlock := r.lockRow(t)
		earlier := r.goDo(context.Background(), 5, r.increment(5))
		r.untilBlocked(t, 1)
		later := r.goDo(context.Background(), 6, r.increment(6))
		r.untilBlocked(t, 2)
		unlock()
		require.Equal(t, outcome{receipt: token.Receipt{Token: 5, Value: []byte("1")}}, <-earlier)
		require.Equal(t, outcome{receipt: token.Receipt{Token: 6, Value: []byte("2")}}, <-later)
		require.EqualValues(t, 6, r.number(t, `SELECT writer FROM document`))
	})
}

// An owner that stands still in its write function keeps the fence, until the
// server ends its session.
func TestTheServersTimeoutEndsAnOwnerThatStandsStill(t *testing.T) {
	r := newResource(t, postgresAt(sql.LevelReadCommitted), sqlfence.Config{})
	fn, holding, goAhead := r.holds(5, nil)
	paused := r.goDo(context.Background(), 5, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		if _, err := tx.ExecContext(ctx, `SET LOCAL idle_in_transaction_session_timeout = '300ms'`); err != nil {
			return nil, err
		}
		return fn(ctx, tx)
	})
	<-holding
	require.NoError(t, (<-r.goDo(context.Background(), 6, r.increment(6))).err)
	close(goAhead)
	got := <-paused
	require.Error(t, got.err)
	require.NotErrorIs(t, got.err, token.ErrUnknown)
	require.Equal(t, left{fence: 6, writes: 1}, r.left(t))
}

// Two guarded writes of different resources that lock rows of a user in
// opposite order. The server ends one of them, and the guard begins it again.
func TestADeadlockIsTriedAgain(t *testing.T) {
	onEachLevel(t, func(t *testing.T, r resource) {
		r.exec(t, `INSERT INTO document VALUES ('other', 0, 0, 0)`)
		const add = `UPDATE document SET writes = writes + 1 WHERE id = $1`
		var attempts atomic.Int64
		locked := map[string]chan struct{}{"document": make(chan struct{}), "other": make(chan struct{})}
		both := func(first, second string) chan error {
			done := make(chan error, 1)
			var once sync.Once
			go func() {
				_, err := r.guard.Do(context.Background(), token.Write{Resource: first, Token: 5},
					func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
						attempts.Add(1)
						if err := sqlfence.Wrote(tx.ExecContext(ctx, add, first)); err != nil {
							return nil, err
						}
						once.Do(func() { close(locked[first]) })
						<-locked[second]
						return nil, sqlfence.Wrote(tx.ExecContext(ctx, add, second))
					})
				done <- err
			}()
			return done
		}
		one, two := both("document", "other"), both("other", "document")
		require.NoError(t, <-one)
		require.NoError(t, <-two)
		require.Greater(t, attempts.Load(), int64(2), "there was a deadlock")
		require.EqualValues(t, 4, r.number(t, `SELECT sum(writes) FROM document`))
	})
}
