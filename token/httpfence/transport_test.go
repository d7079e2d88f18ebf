package httpfence_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// lease is one that a test ends.
type lease struct {
	token token.Token
	ctx   context.Context
	lose  context.CancelCauseFunc
}

var errLost = errors.New("the lease is lost")

func newLease(t *testing.T, owned token.Token) *lease {
	ctx, lose := context.WithCancelCause(context.Background())
	t.Cleanup(func() { lose(nil) })
	return &lease{owned, ctx, lose}
}

func (l *lease) Token() token.Token       { return l.token }
func (l *lease) Err() error               { return context.Cause(l.ctx) }
func (l *lease) Context() context.Context { return l.ctx }

// sent counts what reaches a base, and answers with a status.
type sent struct {
	requests []*http.Request
	status   int
}

func (s *sent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests = append(s.requests, r)
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return &http.Response{StatusCode: s.status, Header: http.Header{}, Body: http.NoBody}, nil
}

func TestTransportAddsTheTokenAndTheOperation(t *testing.T) {
	base := &sent{status: 200}
	transport := &httpfence.Transport{Base: base, Lease: newLease(t, 5)}
	for _, row := range []struct {
		name, method string
		operation    token.Operation
		want         []string
	}{
		{"AWrite", "POST", "", nil},
		{"AWriteThatIsAnOperation", "POST", "bill 7", []string{`"bill 7"`}},
		{"AWriteThatIsAnOperationInAnotherLanguage", "DELETE", "für", []string{`%"f%c3%bcr"`}},
		{"AReadIsNone", "GET", "bill 7", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			ctx := context.Background()
			if row.operation != "" {
				ctx = httpfence.WithOperation(ctx, row.operation)
			}
			req := ask{method: row.method}.request(ctx, "http://service")
			before := req.Header.Clone()
			resp, err := transport.RoundTrip(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, before, req.Header, "the caller's request is not touched")
			require.Same(t, req, resp.Request)
			got := base.requests[len(base.requests)-1]
			require.Equal(t, []string{"5"}, got.Header.Values(httpfence.TokenHeader))
			require.Equal(t, row.want, got.Header.Values(httpfence.OperationHeader))
		})
	}
	got := ask{operation: "own"}.request(context.Background(), "http://service")
	resp, err := transport.RoundTrip(got)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, "own", base.requests[len(base.requests)-1].Header.Get(httpfence.OperationHeader), "a caller's own is left")
}

// closing is a request body that knows whether it was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

func TestTransportSendsNothingThatIsWrong(t *testing.T) {
	ended := newLease(t, 5)
	ended.lose(errLost)
	finished, cancel := context.WithCancel(context.Background())
	cancel()
	operation := func(o token.Operation) context.Context { return httpfence.WithOperation(context.Background(), o) }
	held := newLease(t, 5)
	for _, row := range []struct {
		name  string
		lease httpfence.Lease
		ctx   context.Context
		ask   ask
		want  error
	}{
		{"AfterTheEndOfTheLease", ended, context.Background(), ask{}, errLost},
		{"AfterTheEndOfTheLeaseNotEvenARead", ended, context.Background(), ask{method: "GET"}, errLost},
		{"WithoutALease", nil, context.Background(), ask{}, token.ErrInvalid},
		{"WithALeaseWithoutAToken", newLease(t, 0), context.Background(), ask{}, token.ErrInvalid},
		{"WithATokenAlready", held, context.Background(), ask{token: 4}, token.ErrInvalid},
		{"WithTheSameTokenAlready", held, context.Background(), ask{token: 5}, token.ErrInvalid},
		{"WithTwoOperations", held, operation("a"), ask{operation: "a"}, token.ErrInvalid},
		{"WithAnEmptyOperation", held, operation(""), ask{}, token.ErrInvalid},
		{"WithATooLongOperation", held, operation(token.Operation(strings.Repeat("a", 256))), ask{}, token.ErrInvalid},
		{"WithAnOperationThatIsNotUTF8", held, operation("\xff"), ask{}, token.ErrInvalid},
		{"InAContextThatHasEnded", held, finished, ask{}, context.Canceled},
	} {
		t.Run(row.name, func(t *testing.T) {
			base := &sent{status: 200}
			transport := &httpfence.Transport{Base: base, Lease: row.lease}
			req := row.ask.request(row.ctx, "http://service")
			body := &closing{Reader: strings.NewReader("text")}
			req.Body = body
			_, err := transport.RoundTrip(req)
			require.ErrorIs(t, err, row.want)
			require.NotErrorIs(t, err, token.ErrUnknown, "nothing was sent")
			require.Empty(t, base.requests)
			require.True(t, body.closed)
		})
	}
}

func TestRequestEndsWithItsLease(t *testing.T) {
	entered := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
		}
		entered <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	base := server.Client().Transport
	for _, method := range []string{"POST", "GET"} {
		t.Run("BeforeTheAnswerTo"+method, func(t *testing.T) {
			l := newLease(t, 5)
			ended := make(chan error, 1)
			go func() {
				transport := &httpfence.Transport{Base: base, Lease: l}
				_, err := transport.RoundTrip(ask{method: method}.request(context.Background(), server.URL))
				ended <- err
			}()
			await(t, "request", entered)
			l.lose(errLost)
			err := await(t, "end of the request", ended)
			require.ErrorIs(t, err, errLost)
			require.Equal(t, method == "POST", errors.Is(err, token.ErrUnknown), "a write may have been done")
		})
	}
	t.Run("InTheMiddleOfTheAnswer", func(t *testing.T) {
		l := newLease(t, 5)
		transport := &httpfence.Transport{Base: base, Lease: l}
		resp, err := transport.RoundTrip(ask{path: "/body"}.request(context.Background(), server.URL))
		require.NoError(t, err)
		_, err = io.ReadFull(resp.Body, make([]byte, 4))
		require.NoError(t, err)
		await(t, "request", entered)
		l.lose(errLost)
		_, err = resp.Body.Read(make([]byte, 1))
		require.ErrorIs(t, err, errLost)
		require.NoError(t, resp.Body.Close())
	})
	t.Run("AndAnAnswerThatWasReadBeforeIsLeftAlone", func(t *testing.T) {
		ok := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "whole") }))
		defer ok.Close()
		l := newLease(t, 5)
		transport := &httpfence.Transport{Base: ok.Client().Transport, Lease: l}
		resp, err := transport.RoundTrip(ask{}.request(context.Background(), ok.URL))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Equal(t, "whole", string(body))
		require.NoError(t, resp.Body.Close())
		l.lose(errLost)
	})
}

func TestLostAnswerIsUnknownAndAnUnreachableServerIsNot(t *testing.T) {
	server := legacy(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	transport := &httpfence.Transport{Base: server.Client().Transport, Lease: newLease(t, 5)}
	for method, unknown := range map[string]bool{"POST": true, "DELETE": true, "GET": false} {
		_, err := transport.RoundTrip(ask{method: method}.request(context.Background(), server.URL))
		require.Error(t, err)
		require.Equal(t, unknown, errors.Is(err, token.ErrUnknown), method)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, free.Close())
	_, err = transport.RoundTrip(ask{}.request(context.Background(), "http://"+free.Addr().String()))
	require.Error(t, err)
	require.NotErrorIs(t, err, token.ErrUnknown, "no connection was made")

	// A base that does not say what it did may have done anything.
	transport.Base = broken{}
	_, err = transport.RoundTrip(ask{}.request(context.Background(), "http://service"))
	require.ErrorIs(t, err, token.ErrUnknown)
}

type broken struct{}

func (broken) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no reason") }

func TestTokenIsNotSentToAnotherHost(t *testing.T) {
	reached := make(chan string, 10)
	other := legacy(t, func(_ http.ResponseWriter, r *http.Request) { reached <- r.Header.Get(httpfence.TokenHeader) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL+"/documents/7", http.StatusTemporaryRedirect)
		case "/by-way-of-here":
			http.Redirect(w, r, "/away", http.StatusTemporaryRedirect)
		case "/moved":
			http.Redirect(w, r, "/documents/7", http.StatusPermanentRedirect)
		default:
			fmt.Fprint(w, r.Header.Get(httpfence.TokenHeader), " ", r.Header.Get(httpfence.OperationHeader))
		}
	}))
	defer server.Close()
	client := http.Client{Transport: &httpfence.Transport{Base: server.Client().Transport, Lease: newLease(t, 5)}}
	for _, method := range []string{"POST", "GET"} {
		for _, path := range []string{"/away", "/by-way-of-here"} {
			_, err := client.Do(ask{method: method, path: path}.request(context.Background(), server.URL))
			require.ErrorIs(t, err, token.ErrInvalid)
			require.ErrorContains(t, err, "redirected from")
		}
	}
	require.Empty(t, reached)
	ctx := httpfence.WithOperation(context.Background(), "a")
	resp, err := client.Do(ask{path: "/moved"}.request(ctx, server.URL))
	require.NoError(t, err)
	r, err := read(resp)
	require.NoError(t, err)
	require.Equal(t, `5 "a"`, r.body, "on the same host it is")
}

func TestTokenIsNotSentByAnotherScheme(t *testing.T) {
	base := &sent{status: 200}
	transport := &httpfence.Transport{Base: base, Lease: newLease(t, 5)}
	for first, next := range map[string]string{"https://h": "http://h", "http://h": "https://h", "http://h:80": "http://h:81"} {
		req := ask{}.request(context.Background(), next)
		req.Response = &http.Response{Request: ask{}.request(context.Background(), first)}
		_, err := transport.RoundTrip(req)
		require.ErrorIs(t, err, token.ErrInvalid, "from %s to %s", first, next)
	}
	require.Empty(t, base.requests)
}
