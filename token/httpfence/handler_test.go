package httpfence_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

func TestHandlerGetsTheWholeRequest(t *testing.T) {
	s := serve(t, httpfence.Config{}, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength != int64(len(body)) || len(r.TransferEncoding) > 0 {
			panic("a body that is not whole")
		}
		_, _ = io.WriteString(w, r.Header.Get("X-Own")+" "+r.Header.Get(httpfence.TokenHeader)+" "+string(body))
	})
	require.Equal(t, "mine 5 text", s.do(ask{token: 5, body: "text", header: http.Header{"X-Own": {"mine"}}}).body)
	chunked := rawHeadOnly + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
	require.Equal(t, " 5 abc", s.raw(chunked, false).body)
}

func TestAnswerIsKeptForAClientThatHasLeft(t *testing.T) {
	entered, left := make(chan struct{}), make(chan struct{})
	finished := make(chan error, 1)
	s := newService(t, httpfence.Config{})
	guarded := s.guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-left
		finished <- r.Context().Err()
		_, _ = io.WriteString(w, "done")
	}))
	s.listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { // ends when the client is gone
			select {
			case <-left:
			default:
				close(left)
			}
		})
		guarded.ServeHTTP(w, r)
	}))
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() {
		_, err := s.try(ctx, ask{token: 5, operation: "a"})
		gone <- err
	}()
	await(t, "run of the handler", entered)
	cancel()
	require.ErrorIs(t, await(t, "end of the client", gone), context.Canceled)
	require.NoError(t, await(t, "end of the handler", finished), "its context does not end with the client")
	again := s.do(ask{token: 5, operation: "a"})
	require.Equal(t, "done", again.body)
	require.Equal(t, "true", again.header.Get(httpfence.ReplayedHeader))
}

func TestHandlersContextEndsAfterItsTime(t *testing.T) {
	s := serve(t, httpfence.Config{HandlerTimeMax: time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		if _, limited := r.Context().Deadline(); limited {
			w.WriteHeader(http.StatusGatewayTimeout)
		}
	})
	for _, operation := range []string{"", "a", "a"} {
		require.Equal(t, http.StatusGatewayTimeout, s.do(ask{token: 5, operation: operation}).status, "and it can still say so")
	}
}

func TestPanicLeavesTheOutcomeUnknown(t *testing.T) {
	var runs atomic.Int64
	s := serve(t, httpfence.Config{}, func(w http.ResponseWriter, r *http.Request) {
		runs.Add(1)
		_, _ = io.WriteString(w, "half")
		switch r.URL.Query().Get("how") {
		case "abort":
			panic(http.ErrAbortHandler)
		case "exit":
			runtime.Goexit()
		case "panic":
			panic("a fault")
		}
	})
	for i, how := range []string{"panic", "abort", "exit"} {
		t.Run("ByThe"+how, func(t *testing.T) {
			before, low := runs.Load(), token.Token(10*(i+1))
			a := ask{token: low + 1, operation: how, path: "/documents/7?how=" + how}
			_, err := s.try(context.Background(), a)
			require.Error(t, err, "the connection ends, as net/http does it")
			require.Equal(t, low+1, s.highest("/documents/7"), "the fence stays")
			for _, retry := range []token.Token{low + 1, low, low + 3} {
				a.token = retry
				problem := s.do(a).isProblem(t, 409, "outcome-unknown")
				require.Equal(t, httpfence.Unknown, problem.Outcome)
				require.ErrorIs(t, problem, token.ErrUnknown)
				require.NotErrorIs(t, problem, token.ErrStale)
			}
			require.Equal(t, low+3, s.highest("/documents/7"), "a later owner has been here")
			require.Equal(t, before+1, runs.Load(), "at most once")

			// The turn was given on, and the ways out are open.
			require.Equal(t, 200, s.do(ask{token: low + 3, operation: how + "-again"}).status)
			require.NoError(t, s.guard.Forget(context.Background(), "/documents/7", token.Operation(how)))
			_, err = s.try(context.Background(), a)
			require.Error(t, err)
			require.Equal(t, before+3, runs.Load())
		})
	}
}

// TestRepeatOfTheTransportIsRunOnce: net/http takes a request with an operation
// id for one that may be sent again when its connection breaks.
func TestRepeatOfTheTransportIsRunOnce(t *testing.T) {
	var runs atomic.Int64
	s := serve(t, httpfence.Config{}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(httpfence.OperationHeader) != "" {
			runs.Add(1)
			panic(http.ErrAbortHandler)
		}
	})
	s.server.Client().Transport.(*http.Transport).DisableKeepAlives = false
	require.Equal(t, 200, s.do(ask{token: 5}).status)
	s.do(ask{token: 5, operation: "a"}).isProblem(t, 409, "outcome-unknown") // the answer to the second attempt
	require.EqualValues(t, 1, runs.Load())
}

func TestPanicAfterAPassedAnswerCutsIt(t *testing.T) {
	s := serve(t, httpfence.Config{AnswerBytesMax: 10}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
		panic(http.ErrAbortHandler)
	})
	_, err := s.try(context.Background(), ask{token: 5, operation: "a"})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the client must not take it for whole")
	s.do(ask{token: 5, operation: "a"}).isProblem(t, 409, "outcome-unknown")
}

func TestIdempotentRequestIsRunAgainWhenItsOutcomeIsUnknown(t *testing.T) {
	var runs atomic.Int64
	s := serve(t, httpfence.Config{
		Idempotent: func(r *http.Request) bool { return r.Method == http.MethodPut },
	}, func(w http.ResponseWriter, _ *http.Request) {
		if runs.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "done")
	})
	a := ask{method: "PUT", token: 5, operation: "a"}
	_, err := s.try(context.Background(), a)
	require.Error(t, err)
	a.token = 4
	s.do(a).isProblem(t, 409, "outcome-unknown") // not run by a late owner, and not called stale
	a.token = 6
	first := s.do(a)
	require.Equal(t, "done", first.body)
	require.Equal(t, "6", first.header.Get(httpfence.TokenHeader))
	require.Equal(t, "6", s.do(a).header.Get(httpfence.TokenHeader))
	require.EqualValues(t, 2, runs.Load())
}

func TestOutcomeDecidesWhatIsKept(t *testing.T) {
	var runs atomic.Int64
	cfg := httpfence.Config{Outcome: func(status int, header http.Header) httpfence.Outcome {
		if status == http.StatusTooManyRequests && header.Get("Retry-After") != "" {
			return httpfence.NotApplied
		}
		return httpfence.Applied
	}}
	s := serve(t, cfg, func(w http.ResponseWriter, r *http.Request) {
		runs.Add(1)
		switch r.URL.Query().Get("mark") {
		case "unknown":
			httpfence.Mark(r.Context(), httpfence.NotApplied)
			httpfence.Mark(r.Context(), httpfence.Unknown)
		case "not":
			httpfence.Mark(r.Context(), httpfence.NotApplied)
		case "applied":
			httpfence.Mark(r.Context(), httpfence.Applied)
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	for _, row := range []struct {
		mark string
		runs int64
		then int
	}{
		{"", 2, 429},        // by the status: not applied, run again
		{"not", 2, 429},     // by the handler
		{"applied", 1, 429}, // kept
		{"unknown", 1, 409}, // the last mark counts
	} {
		t.Run("Mark "+row.mark, func(t *testing.T) {
			runs.Store(0)
			a := ask{token: 5, operation: "op" + row.mark, path: "/documents/7?mark=" + row.mark}
			require.Equal(t, 429, s.do(a).status)
			require.Equal(t, token.Token(5), s.highest("/documents/7"), "the fence stays whatever came of it")
			require.Equal(t, row.then, s.do(a).status)
			require.Equal(t, row.runs, runs.Load())
		})
	}
	httpfence.Mark(context.Background(), httpfence.NotApplied) // does nothing, and does not panic
}

func TestClientThatReadsNothingDoesNotHoldTheTurn(t *testing.T) {
	big := strings.Repeat("x", 8<<20)
	for _, operation := range []string{"", "Idempotency-Key: a\r\n"} {
		cfg := httpfence.Config{HandlerTimeMax: 10 * time.Millisecond, AnswerBytesMax: 4 << 20}
		s := serve(t, cfg, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(httpfence.TokenHeader) == "5" {
				_, _ = io.WriteString(w, big)
			}
		})
		conn := s.dial()
		_, err := io.WriteString(conn, rawHeadOnly+operation+"Content-Length: 0\r\n\r\n")
		require.NoError(t, err)
		_, err = bufio.NewReader(conn).ReadString('\n') // it has its turn
		require.NoError(t, err)
		require.Equal(t, 200, s.do(ask{token: 6}).status)
	}
}
