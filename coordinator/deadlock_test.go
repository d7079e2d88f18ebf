package coordinator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// A caller whose context comes from a lease on the key would wait for itself.
func TestAcquiringFromInsideTheLease(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 1)
	node := c.Node(1).Coordinator()
	type valueKey struct{}
	lease := acquire(t, c.Node(1), "key")
	bound, unbind := lease.Bind(patient(t))
	defer unbind()
	set, err := node.AcquireAll(patient(t), []string{"a", "b"})
	require.NoError(t, err)

	wouldDeadlock := func(t *testing.T, ctx context.Context, key string) {
		t.Helper()
		before, bounded := batches(c.Node(1)), coordinator.WithWait(patience)
		for name, call := range map[string]func() error{
			"Acquire":       func() error { _, err := node.Acquire(ctx, key, bounded); return err },
			"AcquireAll":    func() error { _, err := node.AcquireAll(ctx, []string{"free", key}, bounded); return err },
			"AcquireWithID": func() error { _, err := node.Acquire(ctx, key, bounded, coordinator.WithRequestID("id")); return err },
			"Do": func() error {
				return node.Do(ctx, key, func(context.Context, *coordinator.Lease) error { return nil }, bounded)
			},
		} {
			err := call()
			require.ErrorIs(t, err, coordinator.ErrWouldDeadlock, name)
			require.ErrorContains(t, err, key)
			require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
		}
		require.Equal(t, before, batches(c.Node(1)), "nothing was proposed")
		_, err := node.TryAcquire(ctx, key)
		require.ErrorIs(t, err, coordinator.ErrBusy, "a try does not wait, not even for itself")
	}
	t.Run("WithTheLeasesContext", func(t *testing.T) { wouldDeadlock(t, lease.Context(), "key") })
	t.Run("WithABoundContext", func(t *testing.T) { wouldDeadlock(t, bound, "key") })
	t.Run("WithOneMadeOfIt", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.WithValue(lease.Context(), valueKey{}, 1), patience)
		defer cancel()
		wouldDeadlock(t, ctx, "key")
		wouldDeadlock(t, context.WithoutCancel(ctx), "key")
	})
	t.Run("WithASetsContext", func(t *testing.T) {
		wouldDeadlock(t, set.Context(), "a")
		wouldDeadlock(t, set.Context(), "b")
	})
	t.Run("InsideDo", func(t *testing.T) {
		require.NoError(t, node.Do(patient(t), "do", func(ctx context.Context, _ *coordinator.Lease) error {
			wouldDeadlock(t, ctx, "do")
			return nil
		}))
	})
	t.Run("AlsoThroughAnInnerLease", func(t *testing.T) {
		inner, err := node.Acquire(lease.Context(), "inner")
		require.NoError(t, err, "another key is no matter")
		wouldDeadlock(t, inner.Context(), "key")
		wouldDeadlock(t, inner.Context(), "inner")
		release(t, inner)
	})
	t.Run("WithAnotherContextItWaitsLikeAnyone", func(t *testing.T) {
		next := ask(t, c.Node(1), "key")
		awaitLine(t, c, c.Node(1), "key", 1)
		next.waits()
		next.leave()
		require.ErrorIs(t, next.failed(), context.Canceled)
	})
	t.Run("OnceTheLeaseHasEndedNothingIsInTheWay", func(t *testing.T) {
		from := context.WithoutCancel(lease.Context())
		release(t, lease)
		again, err := node.Acquire(from, "key")
		require.NoError(t, err)
		release(t, again)
		_, err = node.Acquire(lease.Context(), "key")
		require.ErrorIs(t, err, context.Canceled, "a finished context")
	})
	t.Run("TheLeaseOfAnotherClusterIsNotInTheWay", func(t *testing.T) {
		other := newCluster(t, 1)
		_, err := other.Node(1).Coordinator().Acquire(set.Context(), "a")
		require.NoError(t, err)
	})
}
