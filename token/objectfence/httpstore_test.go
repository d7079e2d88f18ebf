package objectfence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestNewHTTPStoreRefuses(t *testing.T) {
	_, err := NewHTTPStore(nil, "http://example.com")
	require.ErrorIs(t, err, token.ErrInvalid)
	for _, base := range []string{"", "example.com", "ftp://example.com", "http://", "http://x?q=1", "http://x#f", "http://a b", "%"} {
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
		got = append(got, fmt.Sprintf("%s %s If-Match=%s If-None-Match=%s Accept-Encoding=%s Cache-Control=%s", r.Method, r.URL.Path,
			r.Header.Get("If-Match"), r.Header.Get("If-None-Match"), r.Header.Get("Accept-Encoding"), r.Header.Get("Cache-Control")))
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
	for code, want := range map[int]error{412: ErrChanged, 409: ErrChanged, 400: ErrRefused, 403: ErrRefused, 413: ErrRefused, 429: ErrRefused} {
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

// TestAGuardOverHTTP: each fault at the PUT that moves the pointer.
func TestAGuardOverHTTP(t *testing.T) {
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	for name, fault := range map[string]func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc){
		"WhoseAnswerIsLostAfterTheEffect": func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			require.Equal(t, 200, afterIts(serve, r))
			cut(w, "")
		},
		"WhoseAnswerIsLostBeforeTheEffect": func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { cut(w, "") },
		"WhoseServerFailsAfterTheEffect": func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			require.Equal(t, 200, afterIts(serve, r))
			w.WriteHeader(500)
		},
		"WhoseServerFailsBeforeTheEffect": status(500),
		"WhoseProxyAsksTwice": func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			for _, want := range []int{200, 412} {
				again := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(string(body)))
				again.Header = r.Header
				require.Equal(t, want, afterIts(serve, again))
			}
			w.WriteHeader(412)
		},
		"WhoseServerIsInConflict": status(409),
	} {
		t.Run(name+"WritesOnce", func(t *testing.T) {
			server, store := newServer(t)
			g := newGuard(t, store)
			for n, add := range []string{"first", "second"} {
				server.once(fault)
				w := w
				w.Operation += token.Operation(add)
				receipt, err := g.Do(ctx, w, func(_ context.Context, old []byte) (Update, error) {
					return Update{Body: append(old, add...), Value: []byte(add)}, nil
				})
				require.NoError(t, err, n)
				require.Equal(t, token.Receipt{Token: 5, Value: []byte(add)}, receipt)
			}
			require.Equal(t, "firstsecond", contentOf(t, g, "r"))
		})
	}
	t.Run("WhoseServerIsGoneIsUnknown", func(t *testing.T) {
		server, store := newServer(t)
		server.once(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			require.Equal(t, 200, afterIts(serve, r))
			server.set(status(503))
			cut(w, "")
		})
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.ErrorIs(t, err, token.ErrUnknown)
		server.set(nil)
		receipt, err := newGuard(t, store).Do(ctx, w, nothing(t))
		require.NoError(t, err)
		require.True(t, receipt.Repeated)
	})
	t.Run("WhoseServerRefusesIsRefused", func(t *testing.T) {
		server, store := newServer(t)
		server.once(status(403))
		_, err := newGuard(t, store).Do(ctx, w, put("new"))
		require.ErrorIs(t, err, ErrRefused)
		require.NotErrorIs(t, err, token.ErrUnknown)
	})
}

func TestProbe(t *testing.T) {
	ctx := context.Background()
	t.Run("AgreesToAServerThatCompares", func(t *testing.T) {
		server, store := newServer(t)
		for range 3 {
			require.NoError(t, Probe(ctx, store))
		}
		require.Len(t, server.objects, 1)
		require.Contains(t, server.objects, string(ProbeName))
		require.NoError(t, Probe(ctx, openFiles(t, t.TempDir())))
	})
	for _, header := range []string{"If-Match", "If-None-Match"} {
		t.Run("FindsAServerThatIgnores"+header, func(t *testing.T) {
			server, store := newServer(t)
			server.ignores = []string{header}
			for range 2 {
				require.ErrorIs(t, Probe(ctx, store), ErrDoesNotCompare)
			}
		})
	}
	t.Run("FindsAServerWhoseETagIsOfTheName", func(t *testing.T) {
		server, store := newServer(t)
		server.set(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			recorder := httptest.NewRecorder()
			serve(recorder, r)
			if r.Header.Get("If-Match") == `"name"` {
				recorder.Code = 200
			}
			w.Header().Set("ETag", `"name"`)
			w.WriteHeader(recorder.Code)
			_, _ = w.Write(recorder.Body.Bytes())
		})
		require.ErrorIs(t, Probe(ctx, store), ErrDoesNotCompare)
	})
	t.Run("TakesNoOtherErrorForAnAnswer", func(t *testing.T) {
		for _, code := range []int{403, 500} {
			server, store := newServer(t)
			server.set(status(code))
			err := Probe(ctx, store)
			var answer *StatusError
			require.ErrorAs(t, err, &answer)
			require.NotErrorIs(t, err, ErrDoesNotCompare)
			server.set(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
				if r.Header.Get("If-Match") != "" {
					w.WriteHeader(code)
					return
				}
				serve(w, r)
			})
			err = Probe(ctx, store)
			require.ErrorAs(t, err, &answer)
			require.NotErrorIs(t, err, ErrDoesNotCompare)
		}
	})
	t.Run("MayRunManyTimesAtOnce", func(t *testing.T) {
		_, store := newServer(t)
		ended := make(chan error)
		for range 8 {
			go func() { ended <- Probe(ctx, store) }()
		}
		var all error
		for range 8 {
			all = errors.Join(all, <-ended)
		}
		require.NoError(t, all)
	})
}
