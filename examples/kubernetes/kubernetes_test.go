package main

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

// What the program says.
var (
	holds    = regexp.MustCompile(`^holds report with token (\d+)$`)
	stepped  = regexp.MustCompile(`^did step \d+ with token (\d+)$`)
	released = regexp.MustCompile(`^released report with token (\d+)$`)
	left     = regexp.MustCompile(`^node \d has left$`)
)

func parseToken(t *testing.T, text string) token.Token {
	parsed, err := token.Parse(text)
	require.NoError(t, err)
	return parsed
}

// A rolling update, as Kubernetes does it: one pod after the other gets
// SIGTERM. The one that works ends its step and gives its lease back, so that
// the next one works at once; no lease is ever lost.
func TestPodsEndOneAfterTheOtherWithoutLosingALease(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	pods := deployment(t, "-step=100ms", "-hold=30s")
	for _, p := range pods {
		p.awaitProbe(ctx, livePath, http.StatusOK)
		p.awaitProbe(ctx, readyPath, http.StatusOK)
	}
	worker, from, last := nextWorker(ctx, t, pods, 0)

	worker.signal(syscall.SIGTERM)
	m, from, err := worker.next(ctx, from, released)
	require.NoError(t, err)
	require.Equal(t, last, parseToken(t, m[1]))
	require.NoError(t, worker.awaitExit(ctx), "the process ends well")
	_, _, err = worker.next(ctx, from, left)
	require.NoError(t, err)

	rest := without(pods, worker)
	next, _, _ := nextWorker(ctx, t, rest, last)
	idle := without(rest, next)[0]

	// One pod of three has no quorum, and is neither restarted nor taken out of
	// service for it.
	next.signal(syscall.SIGKILL)
	require.Error(t, next.awaitExit(ctx))
	idle.awaitProbe(ctx, livePath, http.StatusOK)
	idle.awaitProbe(ctx, readyPath, http.StatusOK)
	idle.signal(syscall.SIGTERM)
	require.NoError(t, idle.awaitExit(ctx), "it can leave all the same")
	for _, p := range pods {
		require.NotContains(t, strings.Join(p.said, "\n"), "lost", "pod %d", p.number)
	}
}

// nextWorker waits until one of the pods has done a step under a token greater
// than before. It returns the number of its next line, and the token.
func nextWorker(ctx context.Context, t *testing.T, pods []*pod, before token.Token) (*pod, int, token.Token) {
	t.Helper()
	type found struct {
		pod  *pod
		from int
		text string
	}
	bounded, cancel := context.WithCancel(ctx)
	results := make(chan found, len(pods))
	for _, p := range pods {
		go func() {
			m, from, err := p.next(bounded, 0, holds)
			if err == nil {
				_, from, err = p.next(bounded, from, stepped)
			}
			if err != nil {
				results <- found{}
				return
			}
			results <- found{p, from, m[1]}
		}()
	}
	first := <-results
	cancel()
	for range len(pods) - 1 {
		if more := <-results; first.pod == nil {
			first = more
		}
	}
	require.NotNil(t, first.pod, "nobody works: %v", ctx.Err())
	now := parseToken(t, first.text)
	require.Greater(t, now, before)
	return first.pod, first.from, now
}

func without(pods []*pod, not *pod) []*pod {
	var rest []*pod
	for _, p := range pods {
		if p != not {
			rest = append(rest, p)
		}
	}
	return rest
}

// A pod that does not come to its safe point in time loses the lease, but not
// the process's end: it says so, and ends.
func TestAStepThatTakesTooLongIsCutShort(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s := settings{
		dir: t.TempDir(), cluster: "billing", key: "report", http: freeAddresses(t, 1)[0], insecure: true,
		node: 1, peers: map[coordinator.NodeID]string{1: "127.0.0.1:1"}, step: patience, hold: 1,
	}
	out := newTold(holds)
	stop, end := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- run(stop, s, out) }()
	select {
	case <-out.matched:
	case <-ctx.Done():
		require.FailNow(t, "it does not work", out.String())
	}
	end()
	select {
	case err := <-done:
		require.ErrorIs(t, err, context.DeadlineExceeded)
	case <-ctx.Done():
		require.FailNow(t, "it does not end", out.String())
	}
	require.Contains(t, out.String(), "lost report: ")
	require.NotContains(t, out.String(), "has left")
}
