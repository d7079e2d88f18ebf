package drivertest

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

var seedFlag = flag.Uint64("seed", 0, "of the order of shuffled writers; 0: another one each time")

const (
	writers     = 32
	writesOfOne = 3
)

// shuffled runs write for each token of 1..writers, writesOfOne times, all at
// once and begun in a random order. It returns how many succeeded. The others
// have to be refused with the error refused.
func shuffled(t *testing.T, refused error, write func(ctx context.Context, w token.Token) error) int64 {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("the same order again: go test -run '%s' -seed %d", t.Name(), seed)
	start := make(chan struct{})
	var wait sync.WaitGroup
	var written atomic.Int64
	for _, n := range rand.New(rand.NewPCG(seed, 0)).Perm(writers) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			<-start
			for range writesOfOne {
				switch err := write(context.Background(), token.Token(n+1)); {
				case err == nil:
					written.Add(1)
				case !errors.Is(err, refused):
					t.Errorf("token %d: %v", n+1, err)
				}
			}
		}()
	}
	close(start)
	wait.Wait()
	return written.Load()
}

func TestOfShuffledWritersTheGreatestTokenIsLast(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		order := lists{r}
		written := shuffled(t, token.ErrStale, func(ctx context.Context, n token.Token) error {
			_, err := r.guard.Do(ctx, token.Write{Resource: "document", Token: n},
				func(ctx context.Context, tx *sql.Tx) ([]byte, error) {
					if _, err := r.increment(int64(n))(ctx, tx); err != nil {
						return nil, err
					}
					return order.add("order", n.String())(ctx, tx)
				})
			return err
		})
		require.GreaterOrEqual(t, written, int64(writesOfOne), "the greatest is always accepted")
		require.Equal(t, left{fence: writers, writes: written}, r.left(t), "no update is lost")
		require.EqualValues(t, writers, r.number(t, `SELECT writer FROM document`))
		require.Zero(t, r.number(t, `SELECT count(*) FROM entry a JOIN entry b ON a.place < b.place
			WHERE CAST(a.text AS INTEGER) > CAST(b.text AS INTEGER)`), "no token follows a greater one")
		require.Equal(t, written, r.number(t, `SELECT count(*) FROM entry`))
	})
}

// The plain pattern, each statement in a transaction at the place's level and
// begun again after a serialization failure.
func TestOfShuffledPlainUpdatesTheGreatestTokenIsLast(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		written := shuffled(t, sqlfence.ErrNotWritten, func(ctx context.Context, n token.Token) error {
			return r.plainly(ctx, func(tx *sql.Tx) error {
				return sqlfence.Wrote(tx.ExecContext(ctx, r.sql(plainUpdate), "document", int64(n)))
			})
		})
		require.GreaterOrEqual(t, written, int64(writesOfOne))
		require.Equal(t, left{writes: written}, r.left(t), "no update is lost")
		require.EqualValues(t, writers, r.number(t, `SELECT writer FROM document`))
		require.EqualValues(t, writers, r.number(t, `SELECT last_fence FROM document`))
	})
}

func TestOfShuffledPlainInsertsTheGreatestTokenIsLast(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		written := shuffled(t, sqlfence.ErrNotWritten, func(ctx context.Context, n token.Token) error {
			return r.plainly(ctx, func(tx *sql.Tx) error {
				return sqlfence.Wrote(tx.ExecContext(ctx, r.sql(plainInsert), "new", int64(n)))
			})
		})
		require.GreaterOrEqual(t, written, int64(writesOfOne))
		require.Equal(t, written, r.number(t, `SELECT writes FROM document WHERE id = 'new'`), "no update is lost")
		require.EqualValues(t, writers, r.number(t, `SELECT writer FROM document WHERE id = 'new'`))
	})
}
