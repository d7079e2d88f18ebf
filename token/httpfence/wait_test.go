package httpfence_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
	"github.com/palisade-go/palisade/token/httpfence"
)

// gated is a handler that waits until it is let go on.
type gated struct {
	entered chan string   // the token of each request that runs
	goOn    chan struct{} // one element for each that may end; closed for all
}

func newGated() *gated { return &gated{make(chan string, 100), make(chan struct{}, 100)} }

func (g *gated) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	g.entered <- r.Header.Get(httpfence.TokenHeader)
	<-g.goOn
}

// start sends a request and returns where its answer comes.
func (s *service) start(ctx context.Context, a ask) <-chan reply {
	answered := make(chan reply, 1)
	go func() {
		r, err := s.try(ctx, a)
		if err != nil {
			r = reply{body: err.Error()}
		}
		answered <- r
	}()
	return answered
}

// waits waits until so many requests have or want a resource.
func (s *service) waits(resource string, n int) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return s.guard.Waiting(resource) == n }, patience, time.Millisecond)
}

func TestGreaterTokenWaitsForTheHandlerBeforeIt(t *testing.T) {
	handler := newGated()
	s := serve(t, httpfence.Config{}, handler.ServeHTTP)
	ctx := context.Background()
	older := s.start(ctx, ask{token: 5})
	require.Equal(t, "5", await(t, "run", handler.entered))
	newer := s.start(ctx, ask{token: 6})
	s.waits("/documents/7", 2)
	read := s.start(ctx, ask{token: 7, method: "GET"})
	s.waits("/documents/7", 3)
	other := s.start(ctx, ask{token: 1, path: "/documents/8"})
	require.Equal(t, "1", await(t, "run of another resource", handler.entered), "resources don't wait for each other")
	require.Equal(t, token.Token(5), s.highest("/documents/7"), "Highest does not wait")
	late := s.start(ctx, ask{token: 4})
	s.waits("/documents/7", 4)
	close(handler.goOn)
	for _, answered := range []<-chan reply{older, newer, read, other} {
		require.Equal(t, 200, await(t, "answer", answered).status)
	}
	await(t, "refusal", late).isProblem(t, 412, "stale-token")
	require.Equal(t, "6", await(t, "run", handler.entered), "in the order of their coming")
	require.Equal(t, "7", await(t, "run", handler.entered))
	s.waits("/documents/7", 0)
}

func TestWaitingIsBounded(t *testing.T) {
	ctx := context.Background()
	t.Run("InNumberForAResource", func(t *testing.T) {
		handler := newGated()
		s := serve(t, httpfence.Config{WaitersMax: 2}, handler.ServeHTTP)
		var all []<-chan reply
		for range 3 {
			all = append(all, s.start(ctx, ask{token: 5}))
		}
		s.waits("/documents/7", 3)
		for _, a := range []ask{{token: 9}, {token: 9, method: "GET"}} {
			r := s.do(a)
			problem := r.isProblem(t, 503, "busy")
			require.Equal(t, "1", r.header.Get("Retry-After"))
			require.Equal(t, httpfence.NotApplied, problem.Outcome)
			require.ErrorIs(t, problem, httpfence.ErrUnavailable)
		}
		require.ErrorIs(t, s.guard.Accept(ctx, token.Write{Resource: "/documents/7", Token: 9}), httpfence.ErrUnavailable)
		close(handler.goOn)
		for _, answered := range all {
			require.Equal(t, 200, await(t, "answer", answered).status)
		}
		require.Equal(t, token.Token(5), s.highest("/documents/7"))
	})
	t.Run("InNumberForAllResources", func(t *testing.T) {
		handler := newGated()
		s := serve(t, httpfence.Config{RequestsMax: 2}, handler.ServeHTTP)
		first, second := s.start(ctx, ask{token: 5}), s.start(ctx, ask{token: 5, path: "/documents/8"})
		await(t, "run", handler.entered)
		await(t, "run", handler.entered)
		require.Contains(t, s.do(ask{token: 5, path: "/documents/9"}).isProblem(t, 503, "busy").Detail, "2 requests are inside")
		close(handler.goOn)
		await(t, "answer", first)
		await(t, "answer", second)
		require.Equal(t, 200, s.do(ask{token: 5, path: "/documents/9"}).status)
	})
	t.Run("InTime", func(t *testing.T) {
		handler := newGated()
		s := serve(t, httpfence.Config{WaitTimeMax: time.Millisecond}, handler.ServeHTTP)
		first := s.start(ctx, ask{token: 5})
		await(t, "run", handler.entered)
		s.do(ask{token: 6}).isProblem(t, 503, "busy")
		close(handler.goOn)
		await(t, "answer", first)
	})
	t.Run("ByTheClient", func(t *testing.T) {
		handler := newGated()
		s := serve(t, httpfence.Config{}, handler.ServeHTTP)
		first := s.start(ctx, ask{token: 5})
		await(t, "run", handler.entered)
		leaving, leave := context.WithCancel(ctx)
		second := s.start(leaving, ask{token: 6, body: "text"})
		s.waits("/documents/7", 2)
		leave()
		await(t, "end of the client", second)
		s.waits("/documents/7", 1)
		require.ErrorIs(t, s.guard.Accept(leaving, token.Write{Resource: "/documents/7", Token: 9}), context.Canceled)
		require.ErrorIs(t, s.guard.Forget(leaving, "/documents/7", "a"), context.Canceled)
		close(handler.goOn)
		await(t, "answer", first)
		require.Equal(t, token.Token(5), s.highest("/documents/7"))
	})
}

func TestOneRequestAtATimeHasTheTurn(t *testing.T) {
	var inside, runs int // guarded by the turn alone: the race detector looks at them
	s := serve(t, httpfence.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		inside++
		runs++
		if inside != 1 {
			panic("two at a time")
		}
		inside--
		_, _ = io.WriteString(w, fmt.Sprint(runs))
	})
	var clients sync.WaitGroup
	seen := make(chan string, 100)
	for i := range 20 {
		clients.Add(1)
		go func() {
			defer clients.Done()
			for n := range 5 {
				a := ask{token: 5}
				if i%2 == 0 {
					a.operation = fmt.Sprint(i, "-", n)
				}
				r, err := s.try(context.Background(), a)
				if err != nil || r.status != 200 {
					t.Errorf("status %d: %v", r.status, err)
					return
				}
				seen <- r.body
			}
		}()
	}
	clients.Wait()
	close(seen)
	all := map[string]bool{}
	for body := range seen {
		all[body] = true
	}
	require.Len(t, all, 100)
	require.Zero(t, s.guard.Lines(), "nothing is left of resources that nobody works on")
}
