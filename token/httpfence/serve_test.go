package httpfence_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// counting is a handler that counts its runs, and echoes method, path and body.
type counting struct{ runs atomic.Int64 }

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := c.runs.Add(1)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "run %d: %s %s %s", n, r.Method, r.URL.Path, body)
}

func TestWhatCannotBeCheckedIsRefusedBeforeAnything(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{}, handler.ServeHTTP)
	require.Equal(t, 200, s.do(ask{token: 5}).status)

	header := func(name string, values ...string) http.Header { return http.Header{name: values} }
	for _, row := range []struct {
		name   string
		ask    ask
		status int
		kind   string
		says   string
	}{
		{"NoToken", ask{}, 428, "missing-token", "no Fencing-Token header"},
		{"ATokenOfNothing", ask{header: header("Fencing-Token", "")}, 400, "invalid-request", "empty text"},
		{"ATokenOfZero", ask{header: header("Fencing-Token", "0")}, 400, "invalid-request", "0 means none"},
		{"ATokenWithASign", ask{header: header("Fencing-Token", "+6")}, 400, "invalid-request", ""},
		{"ATokenWithAZeroBefore", ask{header: header("Fencing-Token", "06")}, 400, "invalid-request", ""},
		{"ATokenInHexadecimal", ask{header: header("Fencing-Token", "0x6")}, 400, "invalid-request", ""},
		{"ATokenOf64Bits", ask{header: header("Fencing-Token", "9223372036854775808")}, 400, "invalid-request", "63 bits"},
		{"TwoTokens", ask{header: header("Fencing-Token", "6", "7")}, 400, "invalid-request", "2 Fencing-Token headers"},
		{"TheSameTokenTwice", ask{header: header("Fencing-Token", "6", "6")}, 400, "invalid-request", "2 Fencing-Token headers"},
		{"TwoTokensInOneHeader", ask{header: header("Fencing-Token", "6, 7")}, 400, "invalid-request", ""},
		{"TwoOperations", ask{token: 6, header: header("Idempotency-Key", "a", "b")}, 400, "invalid-request",
			"2 Idempotency-Key headers"},
		{"TwoOperationsInOneHeader", ask{token: 6, operation: "a, b"}, 400, "invalid-request", ""},
		{"AnEmptyOperation", ask{token: 6, operation: `""`}, 400, "invalid-request", "empty operation id"},
		{"AnOperationWithoutEnd", ask{token: 6, operation: `"a`}, 400, "invalid-request", "has no end"},
		{"AnOperationOf256Bytes", ask{token: 6, operation: strings.Repeat("a", 256)}, 400, "invalid-request", "longer than 255"},
		{"AnOperationWithAZeroByte", ask{token: 6, operation: `%"%00"`}, 400, "invalid-request", "zero byte"},
		{"AnOperationThatIsNotUTF8", ask{token: 6, operation: `%"%ff"`}, 400, "invalid-request", "UTF-8"},
		{"APathOfNoResource", ask{token: 6, path: "/documents/"}, 400, "invalid-request", "names no resource"},
		{"APathWithTwoReadings", ask{token: 6, path: "/documents//7"}, 400, "invalid-request", "empty segment"},
		{"ATooLongResource", ask{token: 6, path: "/documents/" + strings.Repeat("x", 512)}, 400, "invalid-request", "longer than 512"},
		{"AMethodInLowerCaseIsNoRead", ask{method: "get"}, 428, "missing-token", ""},
		{"AnUnknownMethodIsNoRead", ask{method: "PROPFIND"}, 428, "missing-token", ""},
		{"AReadWithATokenThatIsNone", ask{method: "GET", header: header("Fencing-Token", "x")}, 400, "invalid-request", ""},
		{"AReadWithAnOperation", ask{method: "GET", token: 6, operation: "a"}, 400, "invalid-request", "nothing is done by GET"},
	} {
		t.Run(row.name, func(t *testing.T) {
			problem := s.do(row.ask).isProblem(t, row.status, row.kind)
			require.Contains(t, problem.Detail, row.says)
			require.Equal(t, httpfence.NotApplied, problem.Outcome)
			require.ErrorIs(t, problem, token.ErrInvalid)
			require.Equal(t, token.Token(5), s.highest("/documents/7"))
			require.Equal(t, httpfence.Counts{Resources: 1}, s.store.Counts())
			require.EqualValues(t, 1, handler.runs.Load())
		})
	}
}

func TestStaleTokenIsRefusedWith412AndBothTokens(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{}, handler.ServeHTTP)
	require.Equal(t, 200, s.do(ask{token: 34}).status)
	for _, a := range []ask{{token: 33}, {token: 33, operation: "new"}, {token: 33, method: "GET"}, {token: 33, method: "DELETE"}} {
		r := s.do(a)
		problem := r.isProblem(t, 412, "stale-token")
		require.Equal(t, "application/problem+json", r.header.Get("Content-Type"))
		require.Empty(t, r.header.Values(httpfence.TokenHeader), "only what was let through has the mark")
		var stale *token.StaleError
		require.ErrorAs(t, problem, &stale)
		require.Equal(t, token.StaleError{Resource: "/documents/7", Given: 33, Highest: 34}, *stale)
		require.Equal(t, httpfence.NotApplied, problem.Outcome)
	}
	require.EqualValues(t, 1, handler.runs.Load())
	require.Equal(t, httpfence.Counts{Resources: 1}, s.store.Counts(), "a refusal is no operation")
	require.Equal(t, 200, s.do(ask{token: 33, path: "/documents/8"}).status, "another resource has another fence")
}

func TestEqualTokenIsAcceptedByWrapAndRefusedByWrapOnce(t *testing.T) {
	var handler counting
	s := newService(t, httpfence.Config{})
	many, once := s.guard.Wrap(&handler), s.guard.WrapOnce(&handler)
	s.listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			once.ServeHTTP(w, r)
			return
		}
		many.ServeHTTP(w, r)
	}))
	require.Equal(t, 200, s.do(ask{token: 5}).status)
	require.Equal(t, 200, s.do(ask{token: 5}).status)
	problem := s.do(ask{method: "PUT", token: 5}).isProblem(t, 412, "stale-token")
	require.Equal(t, problem.Given, problem.Highest)
	require.Equal(t, 200, s.do(ask{method: "PUT", token: 6}).status)
	s.do(ask{method: "PUT", token: 6}).isProblem(t, 412, "stale-token")
}

func TestRepeatedOperationIsAnsweredAgainAndRunOnce(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{}, handler.ServeHTTP)
	first := s.do(ask{token: 5, operation: `"bill 7"`, body: "x"})
	require.Equal(t, "run 1: POST /documents/7 x", first.body)
	require.Equal(t, "5", first.header.Get(httpfence.TokenHeader))
	require.Empty(t, first.header.Values(httpfence.ReplayedHeader))

	for _, t2 := range []token.Token{5, 4, 8, 5} { // the same owner, one before it, the next, and late
		again := s.do(ask{token: t2, operation: `"bill 7"`, body: "x"})
		require.Equal(t, first.status, again.status)
		require.Equal(t, first.body, again.body)
		require.Equal(t, "5", again.header.Get(httpfence.TokenHeader), "the token under which it took effect")
		require.Equal(t, "true", again.header.Get(httpfence.ReplayedHeader))
	}
	require.Equal(t, token.Token(8), s.highest("/documents/7"), "a repeated operation raises the fence")
	require.EqualValues(t, 1, handler.runs.Load())
	s.do(ask{token: 5, operation: "another", body: "x"}).isProblem(t, 412, "stale-token")
	elsewhere := s.do(ask{token: 5, operation: `"bill 7"`, body: "x", path: "/documents/8"})
	require.Equal(t, "run 2: POST /documents/8 x", elsewhere.body, "an operation belongs to its resource")
}

func TestOperationIDOfAnotherRequestIsRefusedWith422(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{}, handler.ServeHTTP)
	first := ask{token: 5, operation: "bill", body: "x", path: "/documents/7/pay?now=1"}
	require.Equal(t, 200, s.do(first).status)
	for what, other := range map[string]ask{
		"Method": {token: 9, operation: "bill", body: "x", path: "/documents/7/pay?now=1", method: "PUT"},
		"Path":   {token: 9, operation: "bill", body: "x", path: "/documents/7/paid?now=1"},
		"Query":  {token: 9, operation: "bill", body: "x", path: "/documents/7/pay?now=2"},
		"Body":   {token: 9, operation: "bill", body: "y", path: "/documents/7/pay?now=1"},
		"NoBody": {token: 4, operation: "bill", path: "/documents/7/pay?now=1"},
	} {
		t.Run("Another"+what, func(t *testing.T) {
			problem := s.do(other).isProblem(t, 422, "operation-reused")
			require.ErrorIs(t, problem, httpfence.ErrReused)
			require.ErrorIs(t, problem, token.ErrInvalid)
			require.Equal(t, token.Token(5), s.highest("/documents/7"), "a refusal changes nothing")
		})
	}
	first.header = http.Header{"Authorization": {"another client's"}}
	require.Equal(t, "true", s.do(first).header.Get(httpfence.ReplayedHeader), "header fields are not compared")
	require.EqualValues(t, 1, handler.runs.Load())
}

func TestOperationMayBeRequired(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{OperationRequired: true}, handler.ServeHTTP)
	s.do(ask{token: 5}).isProblem(t, 400, "missing-operation")
	require.Zero(t, s.highest("/documents/7"))
	require.Equal(t, 200, s.do(ask{token: 5, operation: "a"}).status)
	require.Equal(t, 200, s.do(ask{token: 5, method: "GET"}).status, "a read is no operation")
}

func TestReadPassesUnlessItHasAToken(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{}, handler.ServeHTTP)
	require.Equal(t, 200, s.do(ask{token: 5}).status)
	for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
		r := s.do(ask{method: method})
		require.Equal(t, 200, r.status, method)
		require.Empty(t, r.header.Values(httpfence.TokenHeader), "nobody has checked it")
	}
	require.Equal(t, token.Token(5), s.highest("/documents/7"))

	r := s.do(ask{method: "GET", token: 7})
	require.Equal(t, 200, r.status)
	require.Equal(t, "7", r.header.Get(httpfence.TokenHeader))
	require.Equal(t, token.Token(7), s.highest("/documents/7"), "an owner that reads first shuts out those before it")
	s.do(ask{token: 6}).isProblem(t, 412, "stale-token")
	s.do(ask{method: "GET", token: 6}).isProblem(t, 412, "stale-token")
}

func TestSafeIsTheCallersToSay(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{
		Safe: func(r *http.Request) bool { return r.Method == "GET" && r.URL.Query().Get("delete") == "" },
	}, handler.ServeHTTP)
	require.Equal(t, 200, s.do(ask{method: "GET"}).status)
	s.do(ask{method: "GET", path: "/documents/7?delete=1"}).isProblem(t, 428, "missing-token")
	s.do(ask{method: "OPTIONS"}).isProblem(t, 428, "missing-token")
}

func TestResourceOfAnErrorIsRefused(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{Resource: func(r *http.Request) (string, error) {
		if r.URL.Path == "/none" {
			return "", nil
		}
		return "x", errors.New("no such thing")
	}}, handler.ServeHTTP)
	require.Contains(t, s.do(ask{token: 1}).isProblem(t, 400, "invalid-request").Detail, "no such thing")
	require.Contains(t, s.do(ask{token: 1, path: "/none"}).isProblem(t, 400, "invalid-request").Detail, "has no name")
	require.Zero(t, handler.runs.Load())
}
