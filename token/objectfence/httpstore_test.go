package objectfence

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestNewHTTPStoreRefuses(t *testing.T) {
	_, err := NewHTTPStore(nil, "http://example.com")
	require.ErrorIs(t, err, token.ErrInvalid)
	for _, base := range []string{
		"", "example.com", "ftp://example.com", "http://", "http://x?q=1", "http://x#f", "http://a b", "%",
	} {
		_, err := NewHTTPStore(http.DefaultClient, base)
		require.ErrorIs(t, err, token.ErrInvalid, base)
	}
	_, err = NewHTTPStore(http.DefaultClient, "ftp://user:secret@example.com")
	require.NotContains(t, err.Error(), "secret")
}

func TestTheRequestsOfAnHTTPStore(t *testing.T) {
	ctx := context.Background()
	server, store := newServer(t)
	var got []string
	server.set(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		said := r.Method + " " + r.URL.Path
		for _, header := range []string{"If-Match", "If-None-Match", "Accept-Encoding", "Cache-Control"} {
			said += fmt.Sprintf(" %s=%s", header, r.Header.Get(header))
		}
		got = append(got, said)
		serve(w, r)
	})
	etag, err := store.PutIf(ctx, "a", []byte("first"), Absent)
	require.NoError(t, err)
	require.Equal(t, ETag(`"put-1"`), etag)
	_, err = store.PutIf(ctx, "a", nil, etag)
	require.NoError(t, err)
	_, err = store.Get(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, []string{
		`PUT /bucket/a If-Match= If-None-Match=* Accept-Encoding=identity Cache-Control=no-cache`,
		`PUT /bucket/a If-Match="put-1" If-None-Match= Accept-Encoding=identity Cache-Control=no-cache`,
		`GET /bucket/a If-Match= If-None-Match= Accept-Encoding=identity Cache-Control=no-cache`,
	}, got)
}

// status answers with a status.
func status(code int) func(http.ResponseWriter, *http.Request, http.HandlerFunc) {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { w.WriteHeader(code) }
}

func TestWhatAStatusOfAPutMeans(t *testing.T) {
	ctx := context.Background()
	server, store := newServer(t)
	for code, want := range map[int]error{
		412: ErrChanged, 409: ErrChanged, 400: ErrRefused, 403: ErrRefused, 413: ErrRefused, 429: ErrRefused,
	} {
		for _, match := range []ETag{Absent, `"x"`} {
			server.set(status(code))
			_, err := store.PutIf(ctx, "a", []byte("x"), match)
			require.ErrorIs(t, err, want, code)
		}
	}
	server.set(status(404))
	_, err := store.PutIf(ctx, "a", []byte("x"), `"x"`)
	require.ErrorIs(t, err, ErrChanged, "it is gone")
	_, err = store.PutIf(ctx, "a", []byte("x"), Absent)
	require.ErrorIs(t, err, ErrRefused, "there is no such place")
	for _, code := range []int{202, 205, 301, 302, 307, 308, 408, 500, 503} {
		server.set(status(code))
		_, err := store.PutIf(ctx, "a", []byte("x"), Absent)
		var answer *StatusError
		require.ErrorAs(t, err, &answer, code)
		require.Equal(t, StatusError{Method: "PUT", Name: "a", Status: code}, *answer)
		for _, certain := range []error{ErrChanged, ErrRefused, ErrNotFound} {
			require.NotErrorIs(t, err, certain, "%d leaves it open", code)
		}
	}
	for _, code := range []int{200, 201, 204} {
		server.set(status(code))
		etag, err := store.PutIf(ctx, "a", []byte("x"), Absent)
		require.NoError(t, err, code)
		require.Equal(t, Absent, etag, "the server did not say")
	}
}

func TestWhatAStatusOfAGetMeans(t *testing.T) {
	ctx := context.Background()
	server, store := newServer(t)
	server.set(status(404))
	_, err := store.Get(ctx, "a")
	require.ErrorIs(t, err, ErrNotFound)
	for _, code := range []int{204, 206, 301, 304, 403, 410, 500} {
		server.set(status(code))
		_, err := store.Get(ctx, "a")
		var answer *StatusError
		require.ErrorAs(t, err, &answer, code)
		require.NotErrorIs(t, err, ErrNotFound, code)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	server, store := newServer(t)
	for _, code := range []int{301, 302, 303, 307, 308} {
		requests := 0
		server.set(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			requests++
			http.Redirect(w, r, "/bucket/b", code)
		})
		_, err := store.PutIf(context.Background(), "a", []byte("x"), Absent)
		require.ErrorContains(t, err, fmt.Sprint("status ", code))
		_, err = store.Get(context.Background(), "a")
		require.ErrorContains(t, err, fmt.Sprint("status ", code))
		require.Equal(t, 2, requests)
	}
}

func TestTheClientThatIsGivenIsNotChanged(t *testing.T) {
	client := &http.Client{}
	_, err := NewHTTPStore(client, "http://example.com")
	require.NoError(t, err)
	require.Nil(t, client.CheckRedirect)
}

func TestETagsMustBeStrong(t *testing.T) {
	ctx := context.Background()
	server, store := newServer(t)
	for etag, says := range map[string]string{
		`W/"x"`: "is weak", "": "there is none", "x": "not between quotes", `"`: "not between quotes", `"a"b"`: "has the character",
		`"` + strings.Repeat("x", 1024) + `"`: "longer than 1024 bytes", `"a b"`: "has the character",
	} {
		server.set(func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
			w.Header()["Etag"] = []string{etag}
			_, _ = io.WriteString(w, "body")
		})
		_, err := store.Get(ctx, "a")
		require.ErrorIs(t, err, ErrETag, etag)
		require.ErrorContains(t, err, says)
		put, err := store.PutIf(ctx, "a", []byte("x"), Absent)
		require.NoError(t, err, "the PUT succeeded")
		require.Equal(t, Absent, put)
	}
	server.set(func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		w.Header()["Etag"] = []string{`"a"`, `"b"`}
	})
	_, err := store.Get(ctx, "a")
	require.ErrorIs(t, err, ErrETag)
	require.ErrorContains(t, err, "there are 2")

	server.set(func(http.ResponseWriter, *http.Request, http.HandlerFunc) { t.Error("a request was made") })
	for _, match := range []ETag{`W/"x"`, "x", `"a", "b"`, "*", "\"a\"\r\nX: y"} {
		_, err := store.PutIf(ctx, "a", []byte("x"), match)
		require.ErrorIs(t, err, token.ErrInvalid, match)
	}
}

func TestAnAnswerThatIsCut(t *testing.T) {
	ctx := context.Background()
	server, store := newServer(t)
	_, err := store.PutIf(ctx, "a", []byte("body"), Absent)
	require.NoError(t, err)
	const head = "HTTP/1.1 200 OK\r\nETag: \"x\"\r\n"
	for name, text := range map[string]string{
		"AtOnce":           "",
		"InItsHead":        "HTTP/1.1 200 OK\r\nETag",
		"InItsBody":        head + "Content-Length: 10\r\n\r\nshort",
		"InAChunk":         head + "Transfer-Encoding: chunked\r\n\r\n5\r\nsho",
		"BetweenChunks":    head + "Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
		"WhereNobodyKnows": "HTTP/1.0 200 OK\r\nETag: \"x\"\r\n\r\nshort",
	} {
		t.Run(name+"IsNoObject", func(t *testing.T) {
			server.set(func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) { cut(w, text) })
			object, err := store.Get(ctx, "a")
			require.Error(t, err)
			require.NotErrorIs(t, err, ErrNotFound)
			require.Zero(t, object)
		})
	}
}

func TestAnObjectThatIsTooLarge(t *testing.T) {
	ctx := context.Background()
	server, store := newServer(t)
	server.set(func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		w.Header().Set("ETag", `"x"`)
		chunk := make([]byte, 1<<20)
		for {
			if _, err := w.Write(chunk); err != nil {
				return // the client has had enough
			}
		}
	})
	_, err := store.Get(ctx, "a")
	require.ErrorIs(t, err, ErrTooLarge)
	server.set(func(http.ResponseWriter, *http.Request, http.HandlerFunc) { t.Error("a request was made") })
	_, err = store.PutIf(ctx, "a", make([]byte, ObjectBytesMax+1), Absent)
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestTheContextEndsARequest(t *testing.T) {
	server, store := newServer(t)
	arrived := make(chan struct{})
	server.set(func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done() // the client hangs up
	})
	for _, do := range []func(ctx context.Context) error{
		func(ctx context.Context) error { _, err := store.Get(ctx, "a"); return err },
		func(ctx context.Context) error { _, err := store.PutIf(ctx, "a", []byte("x"), Absent); return err },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- do(ctx) }()
		<-arrived
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	}
}

// TestAPutIsSentOnce: a transport that asked again by itself would get
// ErrChanged for a PUT that took effect.
func TestAPutIsSentOnce(t *testing.T) {
	server, store := newServer(t)
	_, err := store.PutIf(context.Background(), "b", nil, Absent) // a connection to use again
	require.NoError(t, err)
	for _, body := range [][]byte{nil, []byte("x")} {
		var requests atomic.Int64
		server.set(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			requests.Add(1)
			cut(w, "")
		})
		_, err := store.PutIf(context.Background(), "a", body, Absent)
		require.Error(t, err)
		require.NotErrorIs(t, err, ErrChanged)
		require.EqualValues(t, 1, requests.Load())
	}
}
