package coordinator_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// What gives up by itself after three election timeouts, and is asked again.

// try asks once for a key that a test knows to be free or taken. It asks again if
// a busy machine, or an election, takes longer than a try waits: what such an
// attempt got has been withdrawn before the next is looked at.
func try(t testing.TB, n *locktest.Node, key string, opts ...coordinator.AcquireOption) (*coordinator.Lease, error) {
	t.Helper()
	lease, err := answered(t, func(ctx context.Context) (*coordinator.Lease, error) {
		return n.Coordinator().TryAcquire(ctx, key, opts...)
	})
	t.Cleanup(func() { runtime.KeepAlive(lease) })
	return lease, err
}

// answered asks again while the answer is that there is none in time.
func answered[A any](t testing.TB, ask func(context.Context) (A, error)) (A, error) {
	t.Helper()
	return untilAnswered(patient(t), ask)
}

// untilAnswered is answered, for as long as ctx lasts.
func untilAnswered[A any](ctx context.Context, ask func(context.Context) (A, error)) (A, error) {
	for {
		answer, err := ask(ctx)
		if !errors.Is(err, coordinator.ErrUnavailable) || ctx.Err() != nil {
			return answer, err
		}
	}
}

// inspect asks a node about a key, until it answers.
func inspect(t testing.TB, n *locktest.Node, key string) coordinator.KeyInfo {
	t.Helper()
	info, err := answered(t, func(ctx context.Context) (coordinator.KeyInfo, error) {
		return n.Coordinator().Inspect(ctx, key)
	})
	require.NoError(t, err)
	return info
}

// resolve asks a node what became of a request, until it answers.
func resolve(t testing.TB, n *locktest.Node, key, id string) coordinator.Resolution {
	t.Helper()
	resolution, err := answered(t, func(ctx context.Context) (coordinator.Resolution, error) {
		return n.Coordinator().Resolve(ctx, key, id)
	})
	require.NoError(t, err)
	return resolution
}
