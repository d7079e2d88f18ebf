package coordinator_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// Neither answer depends on the quorum, but for the one time that a node has
// to catch up after its start.
func TestHealthDoesNotDependOnTheQuorum(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	for _, n := range c.Nodes() {
		require.NoError(t, n.Coordinator().Live())
		require.NoError(t, c.Await(ctx, "the node to be ready", func() bool { return n.Coordinator().Ready() == nil }))
	}
	for _, n := range c.Nodes() {
		n.Kill()
	}

	alone := c.Node(1)
	alone.Restart()
	node := alone.Coordinator()
	err := node.Ready()
	require.ErrorIs(t, err, coordinator.ErrUnavailable, "it has not heard of the others since its start")
	require.ErrorContains(t, err, "group 1")
	require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
	require.NoError(t, node.Live())

	c.Node(2).Restart()
	require.NoError(t, c.Await(ctx, "node 1 to be ready", func() bool { return node.Ready() == nil }))

	c.Node(2).Kill()
	_, err = node.TryAcquire(ctx, "key")
	require.ErrorIs(t, err, coordinator.ErrUnavailable, "the quorum is lost")
	require.NoError(t, node.Ready())
	require.NoError(t, node.Live())
}

// A node that is behind is not ready: what it has is old.
func TestANodeIsReadyWithAllThatWasCommittedBefore(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	c.Node(3).Kill()
	acquire(t, c.Node(1), "key")
	c.Isolate(3)
	c.Node(3).Restart()
	node := c.Node(3).Coordinator()
	require.NoError(t, c.Await(ctx, "node 3 to announce itself in vain", func() bool { return node.Status().Retries > 0 }))
	require.ErrorIs(t, node.Ready(), coordinator.ErrUnavailable)
	require.Zero(t, leasesOf(node), "it can't know of the lease")
	c.Heal()
	require.NoError(t, c.Await(ctx, "node 3 to be ready", func() bool { return node.Ready() == nil }))
	require.Equal(t, 1, leasesOf(node), "as soon as it is ready, and without asking anybody")
}

// leasesOf returns how many leases the node's own replicas know of.
func leasesOf(c *coordinator.Coordinator) int {
	n := 0
	for _, g := range c.Status().Groups {
		n += g.Leases
	}
	return n
}

func TestHealthWhileANodeLeaves(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	ctx := patient(t)
	node := c.Node(1).Coordinator()
	require.NoError(t, c.Await(ctx, "the node to be ready", func() bool { return node.Ready() == nil }))
	lease := acquire(t, c.Node(1), "key")
	ended, end := context.WithCancel(ctx)
	end()
	require.ErrorIs(t, node.Shutdown(ended), context.Canceled)
	require.ErrorIs(t, node.Ready(), coordinator.ErrClosed, "from the beginning of Shutdown on, although a lease is held")
	require.True(t, lease.Held())
	require.NoError(t, node.Live())
	release(t, lease)
	c.Node(1).Close()
	require.ErrorIs(t, node.Ready(), coordinator.ErrClosed)
	require.NoError(t, node.Live(), "no loop runs, so none is stuck")
}

func TestHealthHandlers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	node := c.Node(1).Coordinator()
	require.NoError(t, c.Await(patient(t), "the node to be ready", func() bool { return node.Ready() == nil }))
	handlers := map[string]http.Handler{"Live": node.LiveHandler(), "Ready": node.ReadyHandler()}
	ask := func(name, method string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		handlers[name].ServeHTTP(answer, httptest.NewRequest(method, "/any/path", nil))
		return answer
	}
	for name := range handlers {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			answer := ask(name, method)
			require.Equal(t, http.StatusOK, answer.Code, "%s %s", method, name)
			require.Equal(t, "text/plain; charset=utf-8", answer.Header().Get("Content-Type"))
			require.Equal(t, "ok\n", answer.Body.String()) // the server leaves it out for HEAD
		}
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, "get"} {
			answer := ask(name, method)
			require.Equal(t, http.StatusMethodNotAllowed, answer.Code, "%s %s", method, name)
			require.Equal(t, "GET, HEAD", answer.Header().Get("Allow"))
		}
	}
	c.Node(1).Close()
	answer := ask("Ready", http.MethodGet)
	require.Equal(t, http.StatusServiceUnavailable, answer.Code)
	require.Equal(t, node.Ready().Error()+"\n", answer.Body.String())
	require.Equal(t, "text/plain; charset=utf-8", answer.Header().Get("Content-Type"))
	require.Equal(t, http.StatusOK, ask("Live", http.MethodGet).Code)
}
