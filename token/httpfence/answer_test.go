package httpfence_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// twice runs a handler for an operation and returns its answer and the replay.
func twice(t *testing.T, cfg httpfence.Config, handler http.HandlerFunc) (first, again reply) {
	t.Helper()
	s := serve(t, cfg, handler)
	return s.do(ask{token: 5, operation: "a"}), s.do(ask{token: 6, operation: "a"})
}

func TestReplayEqualsTheFirstAnswer(t *testing.T) {
	for _, row := range []struct {
		name    string
		handler http.HandlerFunc
		status  int
		body    string
	}{
		{"OfAHandlerThatWritesNothing", func(http.ResponseWriter, *http.Request) {}, 200, ""},
		{"OfABodyInPieces", func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				_, _ = io.WriteString(w, "piece ")
			}
		}, 200, strings.Repeat("piece ", 100)},
		{"OfAStatusAndFields", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/documents/8")
			w.Header().Add("Link", "<a>")
			w.Header().Add("Link", "<b>")
			w.Header().Set("Etag", `"e"`)
			w.WriteHeader(http.StatusCreated)
			w.WriteHeader(http.StatusTeapot) // too late
			w.Header().Set("Late", "1")      // too late
			_, _ = io.WriteString(w, "made")
		}, 201, "made"},
		{"OfAFailure", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", 500) }, 500, "no\n"},
		{"OfNoContent", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
			if _, err := io.WriteString(w, "x"); err != http.ErrBodyNotAllowed {
				panic(err)
			}
		}, 204, ""},
		{"OfAWrongContentLength", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1")
			_, _ = io.WriteString(w, "more than one")
		}, 200, "more than one"},
		{"OfAnInformationalStatusBefore", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusAccepted)
		}, 202, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			first, again := twice(t, httpfence.Config{}, row.handler)
			require.Equal(t, row.status, first.status)
			require.Equal(t, row.body, first.body)
			require.Equal(t, first.status, again.status)
			require.Equal(t, first.body, again.body)
			require.Equal(t, "true", again.header.Get(httpfence.ReplayedHeader))
			again.header.Del(httpfence.ReplayedHeader)
			for _, h := range []http.Header{first.header, again.header} {
				h.Del("Date")
				require.Empty(t, h.Values("Late"))
			}
			require.Equal(t, first.header, again.header)
		})
	}
}

func TestReplayHasTrailersAndNoCookies(t *testing.T) {
	first, again := twice(t, httpfence.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "secret"})
		w.Header().Set("Trailer", "Digest")
		w.Header().Set("Connection", "X-Hop")
		w.Header().Set("X-Hop", "of this connection")
		w.Header().Set("Kept", "1")
		_, _ = io.WriteString(w, "body")
		w.Header().Set("Digest", "sum")
		w.Header().Set(http.TrailerPrefix+"Unannounced", "too")
	})
	want := http.Header{"Digest": {"sum"}, "Unannounced": {"too"}}
	require.Equal(t, want, first.trailer)
	require.Equal(t, want, again.trailer)
	require.Equal(t, "body", again.body)
	require.Equal(t, "1", again.header.Get("Kept"))
	require.Equal(t, "session=secret", first.header.Get("Set-Cookie"))
	require.Empty(t, again.header.Get("Set-Cookie"), "a credential of the first client")
	require.Empty(t, again.header.Get("X-Hop"))
}

func TestAnswerAboveTheBoundIsPassedOnAndNotKept(t *testing.T) {
	long := strings.Repeat("x", 101)
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("trailer") {
			w.Header().Set("Trailer", "Digest")
		}
		w.Header().Set("N", "2")
		w.WriteHeader(http.StatusCreated)
		size, _ := strconv.Atoi(r.URL.Query().Get("size"))
		for i := range size { // byte by byte: the bound is met in the middle
			_, _ = io.WriteString(w, long[i:i+1])
		}
		w.Header().Set("Digest", "sum")
	}
	s := serve(t, httpfence.Config{AnswerBytesMax: 100}, handler)
	for _, row := range []struct {
		name, path string
		kept       bool
	}{
		{"ABodyThatJustFitsIsKept", "/documents/7?size=98", true}, // and N: 2
		{"FieldsCountToo", "/documents/7?size=99", false},
		{"AndTrailers", "/documents/7?size=90&trailer", false},
		{"ALongBodyIsPassedOn", "/documents/7?size=101", false},
		{"ALongBodyWithATrailerIsPassedOn", "/documents/7?size=101&trailer", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := ask{token: 5, operation: row.name, path: row.path}
			first := s.do(a)
			require.Equal(t, 201, first.status)
			require.Equal(t, "5", first.header.Get(httpfence.TokenHeader))
			require.Contains(t, row.path, "size="+strconv.Itoa(len(first.body)), "the first client gets it whole")
			if strings.Contains(row.path, "trailer") {
				require.Equal(t, "sum", first.trailer.Get("Digest"))
			}
			again := s.do(a)
			if row.kept {
				require.Equal(t, first.body, again.body)
				return
			}
			problem := again.isProblem(t, 409, "answer-not-kept")
			require.Equal(t, 201, problem.Original)
			require.Equal(t, httpfence.Applied, problem.Outcome)
			require.Equal(t, "/documents/7", problem.Resource)
			require.ErrorIs(t, problem, httpfence.ErrNotKept)
			require.NotErrorIs(t, problem, token.ErrUnknown)
		})
	}
}

func TestWriterOfAKeptAnswerCannotGoAroundIt(t *testing.T) {
	first, _ := twice(t, httpfence.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		_, flushes := w.(http.Flusher)
		_, hijacks := w.(http.Hijacker)
		_, unwraps := w.(interface{ Unwrap() http.ResponseWriter })
		if flushes || hijacks || unwraps || http.NewResponseController(w).Flush() == nil {
			w.WriteHeader(http.StatusTeapot)
		}
	})
	require.Equal(t, 200, first.status)
}

func TestAnswerWithoutAnOperationMayBeFlushedAndNotHijacked(t *testing.T) {
	goOn := make(chan struct{})
	s := serve(t, httpfence.Config{}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("how") {
		case "nothing":
			return
		case "forbidden":
			if _, _, err := http.NewResponseController(w).Hijack(); err == nil {
				panic("hijacked")
			}
			w.Header().Del(httpfence.TokenHeader)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.(http.Flusher).Flush()
		<-goOn
		_, _ = io.WriteString(w, "end")
	})
	resp, err := s.server.Client().Do(ask{token: 5}.request(context.Background(), s.server.URL))
	require.NoError(t, err, "the header is there before the handler returns")
	require.Equal(t, "5", resp.Header.Get(httpfence.TokenHeader))
	close(goOn)
	r, err := read(resp)
	require.NoError(t, err)
	require.Equal(t, "end", r.body)
	require.Equal(t, "5", s.do(ask{token: 5, path: "/documents/7?how=nothing"}).header.Get(httpfence.TokenHeader))
	r = s.do(ask{token: 5, path: "/documents/7?how=forbidden"})
	require.Equal(t, 403, r.status)
	require.Equal(t, "5", r.header.Get(httpfence.TokenHeader), "the guard has let it through")
}
