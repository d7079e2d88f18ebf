package httpfence_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// TestEveryFailureOfTheStoreLeavesTheTruth fails the Nth call of the store, for
// every N until none is left, before its effect and after. Whatever a client was
// told has to be so: what was not applied did not run, what was answered is
// answered again, and nothing runs twice.
func TestEveryFailureOfTheStoreLeavesTheTruth(t *testing.T) {
	for _, row := range []struct {
		name    string
		ask     ask
		outcome httpfence.Outcome // what the handler says
	}{
		{"AnOperation", ask{token: 5, operation: "a", body: "x"}, httpfence.Applied},
		{"AnOperationThatIsNotApplied", ask{token: 5, operation: "a", body: "x"}, httpfence.NotApplied},
		{"AWriteWithoutOne", ask{token: 5, body: "x"}, httpfence.Applied},
		{"ARead", ask{method: "GET", token: 5}, httpfence.Applied},
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/AfterTheEffect=%v", row.name, after), func(t *testing.T) {
				failures := 0
				for n := 1; ; n++ {
					var runs atomic.Int64
					var log bytes.Buffer
					cfg := httpfence.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}
					s := serve(t, cfg, func(w http.ResponseWriter, r *http.Request) {
						runs.Add(1)
						httpfence.Mark(r.Context(), row.outcome)
						_, _ = io.WriteString(w, "done")
					})
					s.store.failNth(n, after)
					first := s.do(row.ask)
					hit := s.store.hit()
					s.store.failNth(0, false)
					if !hit {
						require.Equal(t, 200, first.status)
						require.Empty(t, log.String())
						require.Positive(t, failures, "nothing was tested")
						return
					}
					failures++
					require.Contains(t, log.String(), "the store's disk, call "+fmt.Sprint(n))
					require.NotNil(t, first.problem, "an answer that may not be kept must not be given")
					require.NotContains(t, first.problem.Detail, "disk", "clients are not told")
					switch first.problem.Outcome {
					case httpfence.NotApplied:
						first.isProblem(t, 503, "store-unavailable")
						require.Zero(t, runs.Load())
					case httpfence.Unknown:
						first.isProblem(t, 500, "outcome-unknown")
						require.EqualValues(t, 1, runs.Load())
					default:
						t.Fatalf("outcome %s", first.problem.Outcome)
					}
					before := runs.Load()
					again := s.do(row.ask)
					switch {
					case again.problem != nil: // begun, whatever became of it
						again.isProblem(t, 409, "outcome-unknown")
						require.Equal(t, before, runs.Load())
					case again.header.Get(httpfence.ReplayedHeader) != "":
						require.Equal(t, before, runs.Load())
						require.EqualValues(t, 1, before, "only what ran is given again")
					default:
						allowed := before == 0 || row.outcome == httpfence.NotApplied
						require.True(t, allowed, "run again after an outcome of %s", first.problem.Outcome)
					}
				}
			})
		}
	}
}

func TestStoreThatFailsUnderAPassedAnswerCutsIt(t *testing.T) {
	s := serve(t, httpfence.Config{AnswerBytesMax: 10}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
	})
	s.store.failNth(3, false) // load, begin, answer
	_, err := s.try(context.Background(), ask{token: 5, operation: "a"})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	s.store.failNth(0, false)
	s.do(ask{token: 5, operation: "a"}).isProblem(t, 409, "outcome-unknown")
}

func TestGuardsMethodsTellTheStoresFailure(t *testing.T) {
	ctx := context.Background()
	s := newService(t, httpfence.Config{})
	w := token.Write{Resource: "a", Token: 5}
	for n, call := range []func() error{
		func() error { _, err := s.guard.Highest(ctx, "a"); return err },
		func() error { return s.guard.Accept(ctx, w) }, // its load
		func() error { return s.guard.Forget(ctx, "a", "op") },
	} {
		s.store.failNth(1, false)
		err := call()
		require.ErrorIs(t, err, httpfence.ErrUnavailable, "call %d", n)
		require.ErrorIs(t, err, storeFault{1})
	}
	s.store.failNth(2, false)
	require.ErrorIs(t, s.guard.Accept(ctx, w), storeFault{2})
	s.store.failNth(0, false)
	require.Zero(t, s.highest("a"))
}
