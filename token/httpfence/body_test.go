package httpfence_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token/httpfence"
)

// The beginnings of requests, with and without an operation.
const (
	rawHeadOnly = "POST /documents/7 HTTP/1.1\r\nHost: h\r\nFencing-Token: 5\r\n"
	rawHead     = rawHeadOnly + "Idempotency-Key: a\r\n"
)

func TestBodyIsBounded(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{RequestBytesMax: 10}, handler.ServeHTTP)
	chunked := rawHead + "Transfer-Encoding: chunked\r\n\r\n"
	for _, row := range []struct {
		name, bytes string
		shut        bool
		status      int
		kind        string
	}{
		{"ByWhatTheHeaderSaysBeforeAnythingIsRead", rawHead + "Content-Length: 11\r\nExpect: 100-continue\r\n\r\n", false,
			413, "body-too-large"},
		{"ByWhatComes", chunked + "6\r\nabcdef\r\n5\r\nghijk\r\n", false, 413, "body-too-large"},
		{"AndWhatEndsTooEarlyIsRefused", rawHead + "Content-Length: 10\r\n\r\nhalf", true, 400, "invalid-request"},
		{"AndWhatIsNoChunkIsRefused", chunked + "zz\r\nabc\r\n", false, 400, "invalid-request"},
	} {
		t.Run(row.name, func(t *testing.T) {
			problem := s.raw(row.bytes, row.shut).isProblem(t, row.status, row.kind)
			require.Equal(t, httpfence.NotApplied, problem.Outcome)
			require.Zero(t, s.highest("/documents/7"))
			require.Zero(t, handler.runs.Load())
		})
	}
	require.Equal(t, "run 1: POST /documents/7 abcdefghij", s.do(ask{token: 5, body: "abcdefghij"}).body, "the longest passes")
}

func TestSmuggledRequestsAreNotSeen(t *testing.T) {
	var handler counting
	s := serve(t, httpfence.Config{}, handler.ServeHTTP)
	for name, bytes := range map[string]string{
		"TwoLengths":             rawHead + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"LengthAndOddEncoding":   rawHead + "Content-Length: 1\r\nTransfer-Encoding: xchunked\r\n\r\na",
		"SpaceBeforeTheColon":    strings.Replace(rawHead, "Fencing-Token:", "Fencing-Token :", 1) + "Content-Length: 0\r\n\r\n",
		"ZeroByteInTheOperation": strings.Replace(rawHead, "Key: a", "Key: a\x00", 1) + "Content-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn := s.dial()
			_, err := io.WriteString(conn, bytes)
			require.NoError(t, err)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			defer resp.Body.Close()
			require.GreaterOrEqual(t, resp.StatusCode, 400)
		})
	}
	require.Zero(t, handler.runs.Load())
	require.Zero(t, s.highest("/documents/7"))
	// A field that only looks like one of ours is none.
	r := s.raw("POST /documents/7 HTTP/1.1\r\nHost: h\r\nFencing_Token: 5\r\nContent-Length: 0\r\n\r\n", false)
	r.isProblem(t, 428, "missing-token")
	// One in a folded line belongs to the field before.
	r = s.raw("POST /documents/8 HTTP/1.1\r\nHost: h\r\nFencing-Token: 5\r\nX: y\r\n Fencing-Token: 9\r\n"+
		"Content-Length: 0\r\n\r\n", false)
	require.Equal(t, "5", r.header.Get(httpfence.TokenHeader))
	// And one that comes after the body is too late.
	trailer := "POST /documents/7 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: Fencing-Token\r\n\r\n" +
		"0\r\nFencing-Token: 5\r\n\r\n"
	s.raw(trailer, false).isProblem(t, 428, "missing-token")
}

func TestSlowBodyEndsAndHoldsUpNobody(t *testing.T) {
	t.Run("AfterBodyTimeMax", func(t *testing.T) {
		var handler counting
		s := serve(t, httpfence.Config{BodyTimeMax: 20 * time.Millisecond}, handler.ServeHTTP)
		r := s.raw(rawHead+"Content-Length: 10\r\n\r\nhalf", false) // and then nothing
		problem := r.isProblem(t, 408, "body-too-slow")
		require.ErrorIs(t, problem, httpfence.ErrUnavailable)
		require.Zero(t, s.highest("/documents/7"))
		require.Zero(t, handler.runs.Load())
	})
	t.Run("WithTheRequestsContext", func(t *testing.T) {
		ctx, end := context.WithCancel(context.Background())
		s := newService(t, httpfence.Config{})
		guarded := s.guard.Wrap(&counting{})
		s.listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			end()
			guarded.ServeHTTP(w, r.WithContext(ctx))
		}))
		s.raw(rawHead+"Content-Length: 10\r\n\r\nhalf", false).isProblem(t, 408, "body-too-slow")
	})
	t.Run("WhileOthersHaveTheirTurn", func(t *testing.T) {
		var handler counting
		s := serve(t, httpfence.Config{}, handler.ServeHTTP)
		slow := s.dial()
		_, err := io.WriteString(slow, rawHead+"Content-Length: 4\r\nExpect: 100-continue\r\n\r\n")
		require.NoError(t, err)
		answers := bufio.NewReader(slow)
		line, err := answers.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "100 Continue", "its body is being read")
		require.Equal(t, 200, s.do(ask{token: 6}).status)
		_, err = answers.ReadString('\n')
		require.NoError(t, err)
		_, err = io.WriteString(slow, "late")
		require.NoError(t, err)
		resp, err := http.ReadResponse(answers, nil)
		require.NoError(t, err)
		r, err := read(resp)
		require.NoError(t, err)
		r.isProblem(t, 412, "stale-token")
	})
	t.Run("AndAConnectionIsUsedAgainAfterABodyInTime", func(t *testing.T) {
		s := serve(t, httpfence.Config{BodyTimeMax: time.Second}, (&counting{}).ServeHTTP)
		conn := s.dial()
		answers := bufio.NewReader(conn)
		for i := range 3 {
			_, err := fmt.Fprintf(conn, rawHeadOnly+"Content-Length: 1\r\n\r\n%d", i)
			require.NoError(t, err)
			resp, err := http.ReadResponse(answers, nil)
			require.NoError(t, err)
			r, err := read(resp)
			require.NoError(t, err)
			require.Equal(t, 200, r.status)
		}
	})
}
