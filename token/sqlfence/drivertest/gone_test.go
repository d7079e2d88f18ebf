package drivertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

// load is workers that each do their operations, one after the other. Each is
// tried until there is a receipt of it.
type load struct {
	resource
	workers, operations int

	disturbed sync.RWMutex // held while the database is made to go away
	done      chan token.Receipt
	failed    chan error
}

// run calls disturb after each of so many operations, and checks at the end
// that each was done once.
func (l *load) run(t *testing.T, every int, disturb func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	total := l.workers * l.operations
	l.done = make(chan token.Receipt, total)
	l.failed = make(chan error, 1_000_000)
	var wait sync.WaitGroup
	for worker := range l.workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for n := range l.operations {
				l.untilDone(ctx, token.Operation(fmt.Sprintf("operation %d of %d", n, worker)))
			}
		}()
	}
	values := make(map[int]bool)
	repeated, disturbances := 0, 0
	for n := range total {
		select {
		case receipt := <-l.done:
			value, err := strconv.Atoi(string(receipt.Value))
			require.NoError(t, err)
			require.False(t, values[value], "two operations wrote %d", value)
			values[value] = true
			if receipt.Repeated {
				repeated++
			}
		case <-ctx.Done():
			t.Fatal("the workers don't get on")
		}
		if n%every == every-1 && n < total-1 {
			disturb()
			disturbances++
		}
	}
	wait.Wait()
	require.Equal(t, left{fence: 5, operations: int64(total), writes: int64(total)}, l.left(t), "each once")
	failures, unknown := len(l.failed), 0
	for range failures {
		if errors.Is(<-l.failed, token.ErrUnknown) {
			unknown++
		}
	}
	require.NotZero(t, failures, "nothing was disturbed")
	t.Logf("%d operations, %d times the database went away: %d failures, %d of them unknown, %d found done",
		total, disturbances, failures, unknown, repeated)
}

func (l *load) untilDone(ctx context.Context, operation token.Operation) {
	for {
		w := token.Write{Resource: "document", Token: 5, Operation: operation}
		receipt, err := l.guard.Do(ctx, w, l.increment(5))
		if err == nil {
			l.done <- receipt
			return
		}
		if ctx.Err() != nil {
			return
		}
		l.failed <- err
		l.disturbed.RLock() // until the database is back
		//lint:ignore SA2001 it only waits
		l.disturbed.RUnlock()
	}
}

func TestSessionsThatAreEndedByTheServer(t *testing.T) {
	c := inOwnSchema(t, postgresConfig(t))
	c.RuntimeParams["application_name"] = "sqlfence_test_load"
	p := postgresAt(sql.LevelReadCommitted)
	p.open = func(*testing.T) func(*testing.T) *sql.DB { return connectTo(c) }
	l := load{resource: newResource(t, p, sqlfence.Config{}), workers: 6, operations: 50}
	admin := connectTo(postgresConfig(t))(t)
	l.run(t, 3, func() {
		_, err := admin.ExecContext(context.Background(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE application_name = 'sqlfence_test_load' AND state <> 'idle' ORDER BY random() LIMIT 2`)
		require.NoError(t, err)
	})
}

func TestAServerThatStopsInTheMiddle(t *testing.T) {
	s := newServer(t)
	p := postgresAt(sql.LevelReadCommitted)
	p.open = func(t *testing.T) func(*testing.T) *sql.DB { return connectTo(s.config(t)) }
	l := load{resource: newResource(t, p, sqlfence.Config{}), workers: 6, operations: 50}
	l.run(t, 60, func() {
		l.disturbed.Lock()
		defer l.disturbed.Unlock()
		s.stop(t)
		s.start(t)
	})
}

// The session ends while the write function runs.
func TestAWriteWhoseSessionIsEndedLeavesNothing(t *testing.T) {
	r := newResource(t, postgresAt(sql.LevelReadCommitted), sqlfence.Config{})
	fn, holding, goAhead := r.holds(5, nil)
	var pid int64
	got := r.goDo(context.Background(), 5, func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
		if err := tx.QueryRowContext(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
			return nil, err
		}
		return fn(ctx, tx)
	})
	<-holding
	r.exec(t, `SELECT pg_terminate_backend($1)`, pid)
	close(goAhead)
	err := (<-got).err
	require.Error(t, err)
	require.NotErrorIs(t, err, token.ErrUnknown)
	require.Equal(t, left{}, r.left(t))
}
