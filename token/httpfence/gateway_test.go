package httpfence_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/porttest"
	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// gateway starts a gateway before a service.
func gateway(t *testing.T, cfg httpfence.Config, target string) *service {
	t.Helper()
	s := newService(t, cfg)
	parsed, err := url.Parse(target)
	require.NoError(t, err)
	g, err := httpfence.NewGateway(s.guard, httpfence.GatewayConfig{Target: parsed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	s.listen(g)
	return s
}

// legacy starts a service that checks nothing.
func legacy(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = silent
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func TestGatewayChecksForAServiceThatDoesNot(t *testing.T) {
	var handler counting
	s := gateway(t, httpfence.Config{}, legacy(t, handler.ServeHTTP).URL)
	first := s.do(ask{token: 5, operation: "a", body: "x"})
	require.Equal(t, "run 1: POST /documents/7 x", first.body)
	require.Equal(t, "5", first.header.Get(httpfence.TokenHeader))
	s.do(ask{token: 4}).isProblem(t, 412, "stale-token")
	s.do(ask{}).isProblem(t, 428, "missing-token")
	s.do(ask{token: 6, path: "/documents/8%2f..%2f7"}).isProblem(t, 400, "invalid-request")
	again := s.do(ask{token: 6, operation: "a", body: "x"})
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.header.Get(httpfence.ReplayedHeader))
	require.EqualValues(t, 1, handler.runs.Load())
	require.Equal(t, "run 2: GET /anything ", s.do(ask{method: "GET", path: "/anything"}).body, "what writes nothing passes")
}

func TestGatewayOnceTakesAGreaterTokenOnly(t *testing.T) {
	s := newService(t, httpfence.Config{})
	target, err := url.Parse(legacy(t, (&counting{}).ServeHTTP).URL)
	require.NoError(t, err)
	g, err := httpfence.NewGatewayOnce(s.guard, httpfence.GatewayConfig{Target: target})
	require.NoError(t, err)
	defer g.Close()
	s.listen(g)
	require.Equal(t, 200, s.do(ask{token: 5}).status)
	s.do(ask{token: 5}).isProblem(t, 412, "stale-token")
}

func TestServiceGetsTheRequestWithoutWhatWouldGoAroundTheGuard(t *testing.T) {
	got := make(chan *http.Request, 10)
	upstream := legacy(t, func(_ http.ResponseWriter, r *http.Request) { got <- r })
	s := gateway(t, httpfence.Config{}, upstream.URL+"/legacy")
	header := http.Header{
		"X-Idempotency-Key": {"k"}, "Idempotency_key": {"k"}, "X-Http-Method-Override": {"DELETE"}, "X_http_method": {"DELETE"},
		"X-Method-Override": {"DELETE"}, "Upgrade": {"websocket"}, "Connection": {"Upgrade, X-Hop"}, "X-Hop": {"1"},
		"X-Forwarded-For": {"6.6.6.6"}, "Keep": {"1"},
	}
	for _, a := range []ask{{token: 5, operation: "a", header: header}, {method: "GET", header: header}} {
		s.do(a)
		r := await(t, "request", got)
		require.Equal(t, "/legacy/documents/7", r.URL.Path)
		require.Equal(t, strings.TrimPrefix(upstream.URL, "http://"), r.Host, "one host, whatever the client called it")
		require.Equal(t, "127.0.0.1", r.Header.Get("X-Forwarded-For"), "not what the client said")
		require.Equal(t, "1", r.Header.Get("Keep"))
		if a.token != 0 {
			require.Equal(t, "5", r.Header.Get(httpfence.TokenHeader), "a service that learns to check it can")
		}
		for name := range header {
			if name != "Keep" && name != "X-Forwarded-For" {
				require.Empty(t, r.Header[name], name)
			}
		}
		require.Empty(t, r.Header.Values(httpfence.OperationHeader))
	}
	s.raw("CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\nFencing-Token: 5\r\n\r\n", false).isProblem(t, 400, "invalid-request")
	require.Empty(t, got)
}

func TestServiceThatIsDownLeavesTheOperationToBeTriedAgain(t *testing.T) {
	address := porttest.Take(t, 1)[0]
	s := gateway(t, httpfence.Config{}, "http://"+address)
	for range 2 {
		r := s.do(ask{token: 5, operation: "a"})
		problem := r.isProblem(t, 502, "upstream-unreachable")
		require.Equal(t, httpfence.NotApplied, problem.Outcome)
		require.ErrorIs(t, problem, httpfence.ErrUnavailable)
	}
	s.do(ask{method: "GET"}).isProblem(t, 502, "upstream-unreachable")
	require.Equal(t, token.Token(5), s.highest("/documents/7"), "the fence stays")

	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	up := &httptest.Server{Listener: listener, Config: &http.Server{Handler: &counting{}, ReadHeaderTimeout: patience}}
	up.Start()
	defer up.Close()
	require.Equal(t, "run 1: POST /documents/7 ", s.do(ask{token: 5, operation: "a"}).body)
}

func TestLostAnswerOfTheServiceIsUnknownAndNeverAskedForAgain(t *testing.T) {
	var runs atomic.Int64
	upstream := legacy(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("how") == "" {
			return // and the connection stays for the next
		}
		runs.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // the server sees the end of a connection only then
		switch r.URL.Query().Get("how") {
		case "cut":
			panic(http.ErrAbortHandler)
		case "half":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "slow":
			<-r.Context().Done()
		}
	})
	for _, row := range []struct {
		name, how, method string
		status            int
	}{
		{"WithABody", "cut", "POST", 502},
		// net/http repeats a request without a body that has an Idempotency-Key.
		{"WithoutABody", "cut", "DELETE", 502},
		{"InTime", "slow", "POST", 504},
		{"Whole", "half", "POST", 0}, // the client's connection is cut, too
	} {
		t.Run(row.name, func(t *testing.T) {
			runs.Store(0)
			cfg := httpfence.Config{}
			if row.how == "slow" {
				cfg.HandlerTimeMax = 100 * time.Millisecond
			}
			s := gateway(t, cfg, upstream.URL)
			require.Equal(t, 200, s.do(ask{token: 5}).status, "the next uses this connection")
			a := ask{method: row.method, token: 5, operation: row.name, path: "/documents/7?how=" + row.how}
			if row.method == "POST" {
				a.body = "text"
			}
			r, err := s.try(context.Background(), a)
			if row.status == 0 {
				require.Error(t, err)
			} else {
				require.NoError(t, err)
				problem := r.isProblem(t, row.status, "outcome-unknown")
				require.Equal(t, httpfence.Unknown, problem.Outcome)
				require.ErrorIs(t, problem, token.ErrUnknown)
			}
			s.do(a).isProblem(t, 409, "outcome-unknown")
			require.EqualValues(t, 1, runs.Load(), "it was sent once")
		})
	}
	s := gateway(t, httpfence.Config{}, upstream.URL)
	s.do(ask{method: "GET", path: "/documents/7?how=cut"}).isProblem(t, 502, "upstream-unreachable")
}

func TestServiceIsAskedToTheEndForAClientThatHasLeft(t *testing.T) {
	entered, goOn := make(chan struct{}), make(chan struct{})
	upstream := legacy(t, func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-goOn
		_, _ = fmt.Fprint(w, "done ", r.Context().Err())
	})
	s := gateway(t, httpfence.Config{}, upstream.URL)
	conn := s.dial()
	_, err := io.WriteString(conn, rawHead+"Content-Length: 0\r\n\r\n")
	require.NoError(t, err)
	await(t, "request", entered)
	require.NoError(t, conn.Close())
	// The next waits until the service is done with what the client has left.
	next := s.start(context.Background(), ask{token: 6, operation: "a"})
	s.waits("/documents/7", 2)
	close(goOn)
	r := await(t, "answer", next)
	require.Equal(t, "done <nil>", r.body)
	require.Equal(t, "true", r.header.Get(httpfence.ReplayedHeader))
}

func TestWhateverTheServiceAnswersIsKept(t *testing.T) {
	var runs atomic.Int64
	upstream := legacy(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "Digest")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprint(w, "failed ", runs.Add(1))
		w.Header().Set("Digest", "sum")
	})
	s := gateway(t, httpfence.Config{}, upstream.URL)
	for range 2 {
		r := s.do(ask{token: 5, operation: "a"})
		require.Equal(t, 500, r.status)
		require.Equal(t, "failed 1", r.body)
		require.Equal(t, http.Header{"Digest": {"sum"}}, r.trailer)
	}
}

func TestUpgradeOfTheServiceIsRefused(t *testing.T) {
	upstream := legacy(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	})
	s := gateway(t, httpfence.Config{}, upstream.URL)
	for _, a := range []ask{{token: 5}, {token: 5, operation: "a"}} {
		s.do(a).isProblem(t, 502, "outcome-unknown")
	}
	conn := s.dial()
	_, err := io.WriteString(conn, "GET /documents/7 HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	r, err := read(resp)
	require.NoError(t, err)
	r.isProblem(t, 502, "upstream-unreachable")
}

func TestNewGatewayReportsEveryProblemAtOnce(t *testing.T) {
	_, err := httpfence.NewGateway(nil, httpfence.GatewayConfig{})
	require.ErrorIs(t, err, token.ErrInvalid)
	require.ErrorContains(t, err, "the guard is nil")
	require.ErrorContains(t, err, "Target is nil")
	guard := newService(t, httpfence.Config{}).guard
	for target, says := range map[string]string{
		"ftp://h": "scheme", "http:///a": "no host", "http://h?a=b": "query", "http://u@h": "user",
		"http://h#f": "fragment", "/a": "scheme",
	} {
		parsed, err := url.Parse(target)
		require.NoError(t, err)
		_, err = httpfence.NewGateway(guard, httpfence.GatewayConfig{Target: parsed})
		require.ErrorContains(t, err, says, target)
	}
}

func TestGatewayTakesATransportOfItsCaller(t *testing.T) {
	s := newService(t, httpfence.Config{})
	target, err := url.Parse("http://service")
	require.NoError(t, err)
	g, err := httpfence.NewGateway(s.guard, httpfence.GatewayConfig{Target: target, Transport: broken{}})
	require.NoError(t, err)
	s.listen(g)
	problem := s.do(ask{token: 5, operation: "a"}).isProblem(t, 502, "outcome-unknown")
	require.True(t, errors.Is(problem, token.ErrUnknown), "one that does not say what it did may have sent it")
	require.NoError(t, g.Close())
	require.NoError(t, g.Close())
}
