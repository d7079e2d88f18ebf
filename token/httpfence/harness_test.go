package httpfence_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// patience bounds each wait for something that happens at once.
const patience = 20 * time.Second

// service is a handler behind a guard, on a port.
type service struct {
	t      *testing.T
	store  *faultyStore
	guard  *httpfence.Guard
	server *httptest.Server
}

// documents names the resources of the tests.
func documents(t *testing.T) func(*http.Request) (string, error) {
	t.Helper()
	resource, err := httpfence.ByPath("/documents/")
	require.NoError(t, err)
	return resource
}

// serve starts a service. Config.Resource is documents if it is not set.
func serve(t *testing.T, cfg httpfence.Config, handler http.HandlerFunc) *service {
	t.Helper()
	s := newService(t, cfg)
	s.listen(s.guard.Wrap(handler))
	return s
}

func newService(t *testing.T, cfg httpfence.Config) *service {
	t.Helper()
	if cfg.Resource == nil {
		cfg.Resource = documents(t)
	}
	store := &faultyStore{Memory: newMemory(t, httpfence.MemoryConfig{})}
	guard, err := httpfence.New(store, cfg)
	require.NoError(t, err)
	return &service{t: t, store: store, guard: guard}
}

func (s *service) listen(handler http.Handler) {
	s.server = httptest.NewUnstartedServer(handler)
	s.server.Config.ErrorLog = silent // a panic of a handler is a test's own
	s.server.Start()
	// On a connection that was used before, the client's transport would repeat
	// a request that broke it.
	s.server.Client().Transport.(*http.Transport).DisableKeepAlives = true
	s.t.Cleanup(s.server.Close)
}

// ask is a request of the tests. The zero value of a field leaves it out.
type ask struct {
	method, path, body string // POST /documents/7
	token              token.Token
	operation          string // as in the header
	header             http.Header
}

func (a ask) request(ctx context.Context, base string) *http.Request {
	if a.method == "" {
		a.method = http.MethodPost
	}
	if a.path == "" {
		a.path = "/documents/7"
	}
	req, err := http.NewRequestWithContext(ctx, a.method, base+a.path, strings.NewReader(a.body))
	if err != nil {
		panic(err)
	}
	for name, values := range a.header {
		req.Header[name] = values
	}
	if a.token != 0 {
		req.Header.Set(httpfence.TokenHeader, a.token.String())
	}
	if a.operation != "" {
		req.Header.Set(httpfence.OperationHeader, a.operation)
	}
	return req
}

// reply is an answer that was read to its end.
type reply struct {
	status  int
	header  http.Header
	trailer http.Header
	body    string
	problem *httpfence.Problem // nil for the handler's own answers
}

// do sends a request and reads the answer.
func (s *service) do(a ask) reply {
	s.t.Helper()
	r, err := s.try(context.Background(), a)
	require.NoError(s.t, err)
	return r
}

func (s *service) try(ctx context.Context, a ask) (reply, error) {
	resp, err := s.server.Client().Do(a.request(ctx, s.server.URL))
	if err != nil {
		return reply{}, err
	}
	return read(resp)
}

func read(resp *http.Response) (reply, error) {
	defer resp.Body.Close()
	r := reply{status: resp.StatusCode, header: resp.Header}
	err := httpfence.Error(resp)
	if problem, ok := err.(*httpfence.Problem); ok {
		r.problem = problem
		return r, nil
	}
	if err != nil {
		return r, err
	}
	body, err := io.ReadAll(resp.Body)
	r.body, r.trailer = string(body), resp.Trailer
	return r, err
}

// isProblem checks that an answer is a problem of a type, and its status.
func (r reply) isProblem(t *testing.T, status int, name string) *httpfence.Problem {
	t.Helper()
	require.NotNil(t, r.problem, "status %d: %s", r.status, r.body)
	require.Equal(t, httpfence.ProblemBase+name, r.problem.Type)
	require.Equal(t, status, r.status)
	require.Equal(t, status, r.problem.Status)
	require.Equal(t, "no-store", r.header.Get("Cache-Control"))
	return r.problem
}

// highest returns the fence of a resource.
func (s *service) highest(resource string) token.Token {
	s.t.Helper()
	highest, err := s.guard.Highest(context.Background(), resource)
	require.NoError(s.t, err)
	return highest
}

// raw sends bytes over a connection of their own and returns the answer to
// them. With shut the sending side ends after the bytes.
func (s *service) raw(bytes string, shut bool) reply {
	s.t.Helper()
	conn := s.dial()
	_, err := io.WriteString(conn, bytes)
	require.NoError(s.t, err)
	if shut {
		require.NoError(s.t, conn.(*net.TCPConn).CloseWrite())
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(s.t, err)
	r, err := read(resp)
	require.NoError(s.t, err)
	return r
}

func (s *service) dial() net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
	require.NoError(s.t, err)
	require.NoError(s.t, conn.SetDeadline(time.Now().Add(patience)))
	s.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// await waits for a signal.
func await[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("no %s after %v", what, patience)
		panic("not reached")
	}
}

// faultyStore is a store whose Nth call fails, before it has an effect or after.
type faultyStore struct {
	*httpfence.Memory

	mu    sync.Mutex
	calls int
	fail  int  // the call that fails; zero: none
	after bool // it has its effect first
}

type storeFault struct{ call int }

func (f storeFault) Error() string { return fmt.Sprintf("the store's disk, call %d", f.call) }

// failNth makes the Nth call from now on fail.
func (f *faultyStore) failNth(n int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls, f.fail, f.after = 0, n, after
}

func (f *faultyStore) count() (n int, after bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.calls == f.fail {
		return f.calls, f.after, storeFault{f.calls}
	}
	return f.calls, false, nil
}

func (f *faultyStore) hit() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fail > 0 && f.calls >= f.fail
}

func (f *faultyStore) Load(ctx context.Context, resource string, operation token.Operation) (httpfence.Kept, error) {
	if _, _, err := f.count(); err != nil {
		return httpfence.Kept{}, err
	}
	return f.Memory.Load(ctx, resource, operation)
}

func (f *faultyStore) Save(ctx context.Context, resource string, change httpfence.Change) error {
	_, after, err := f.count()
	if err != nil && !after {
		return err
	}
	if saveErr := f.Memory.Save(ctx, resource, change); saveErr != nil {
		return saveErr
	}
	return err
}
