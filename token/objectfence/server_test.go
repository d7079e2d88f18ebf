package objectfence

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// server is an object store behind HTTP that can misbehave.
type server struct {
	mu      sync.Mutex // guards what follows
	objects map[string]served
	puts    int
	// fault answers in the place of the server, which it may let do its work.
	fault func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)
	// ignores are headers that the server does not look at.
	ignores []string
}

type served struct{ body, etag string }

// newServer returns a server and a store on it, both closed by the test's end.
func newServer(t *testing.T) (*server, *HTTPStore) {
	s := &server{objects: make(map[string]served)}
	listener := httptest.NewServer(s)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		listener.Close()
	})
	store, err := NewHTTPStore(client, listener.URL+"/bucket/")
	require.NoError(t, err)
	return s, store
}

// set sets what answers in the place of the server.
func (s *server) set(fault func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// once does something in the place of the server at the next PUT of a pointer
// or of the object a, and no more.
func (s *server) once(fault func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc)) {
	s.set(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		if r.Method == http.MethodPut && (strings.HasSuffix(r.URL.Path, ".pointer") || strings.HasSuffix(r.URL.Path, "/a")) {
			s.set(nil)
			fault(w, r, serve)
			return
		}
		serve(w, r)
	})
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		fault(w, r, s.serve)
		return
	}
	s.serve(w, r)
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	name, found := strings.CutPrefix(r.URL.Path, "/bucket/")
	if !found {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, found := s.objects[name]
	switch r.Method {
	case http.MethodGet:
		if !found {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", now.etag)
		_, _ = io.WriteString(w, now.body) // the client sees what is missing
	case http.MethodPut:
		ifMatch, ifNone := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
		for _, ignored := range s.ignores {
			if ignored == "If-Match" {
				ifMatch = ""
			} else {
				ifNone = ""
			}
		}
		if ifMatch != "" && ifMatch != now.etag || ifNone == "*" && found {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		s.puts++
		etag := fmt.Sprintf(`"put-%d"`, s.puts)
		s.objects[name] = served{string(body), etag}
		w.Header().Set("ETag", etag)
		w.WriteHeader(http.StatusOK)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// cut ends the connection after it has written text, if any.
func cut(w http.ResponseWriter, text string) {
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = buffered.WriteString(text)
	_ = buffered.Flush()
	_ = conn.Close()
}

// afterIts does the work of the server and drops its answer.
func afterIts(serve http.HandlerFunc, r *http.Request) int {
	recorder := httptest.NewRecorder()
	serve(recorder, r)
	return recorder.Code
}
