package drivertest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/sqlfence"
)

const forgetAge = time.Hour

// older sets back when an operation was recorded, as if time had passed.
func (r resource) older(t *testing.T, operation string, by time.Duration) {
	t.Helper()
	if r.dialect == sqlfence.SQLite {
		r.exec(t, `UPDATE palisade_operation SET at = at - $1 WHERE operation = $2`, by.Milliseconds(), operation)
		return
	}
	r.exec(t, `UPDATE palisade_operation SET at = at - $1::bigint * interval '1 millisecond' WHERE operation = $2`,
		by.Milliseconds(), operation)
}

func TestAForgottenOperationIsDoneAgain(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		ctx := context.Background()
		write := func(operation token.Operation, n token.Token) (token.Receipt, error) {
			return r.guard.Do(ctx, token.Write{Resource: "document", Token: n, Operation: operation}, r.increment(1))
		}
		for _, operation := range []token.Operation{"old", "young"} {
			_, err := write(operation, 5)
			require.NoError(t, err)
		}
		const margin = time.Minute // the test takes less
		r.older(t, "old", forgetAge+margin)
		r.older(t, "young", forgetAge-margin)
		count, err := r.guard.Forget(ctx, forgetAge)
		require.NoError(t, err)
		require.EqualValues(t, 1, count)

		receipt, err := write("young", 6)
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 5, Value: []byte("2"), Repeated: true}, receipt)
		_, err = write("old", 5)
		require.ErrorIs(t, err, token.ErrStale, "the fence is not forgotten")
		receipt, err = write("old", 6)
		require.NoError(t, err)
		require.Equal(t, token.Receipt{Token: 6, Value: []byte("3")}, receipt)
	})
}

func TestForgetDeletesInParts(t *testing.T) {
	onEach(t, func(t *testing.T, p place) {
		r := newResource(t, p, sqlfence.Config{})
		const many = 2*sqlfence.ForgetRowsMax + 1
		blob, at := "bytea", "now() - interval '2 hours'"
		if p.dialect == sqlfence.SQLite {
			blob, at = "BLOB", "(strftime('%s', 'now') - 7200) * 1000"
		}
		r.exec(t, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO palisade_operation SELECT 'document', CAST(i AS TEXT), 5, CAST('' AS %s), %s FROM n`, many, blob, at))
		ctx := context.Background()
		_, err := r.guard.Do(ctx, token.Write{Resource: "document", Token: 5, Operation: "young"}, r.increment(5))
		require.NoError(t, err)
		count, err := r.guard.Forget(ctx, forgetAge)
		require.NoError(t, err)
		require.EqualValues(t, many, count)
		require.Equal(t, left{fence: 5, operations: 1, writes: 1}, r.left(t))

		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err = r.guard.Forget(ended, forgetAge)
		require.ErrorIs(t, err, context.Canceled)
	})
}
