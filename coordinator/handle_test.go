package coordinator

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// With a request id, one caller may release a lease while the collector finds
// that another one has forgotten it. Either may be first, and both are once.
func TestAReleaseMeetsTheEndOfAForgottenHandle(t *testing.T) {
	ctx := context.Background()
	c, err := Open(ctx, Config{Dir: t.TempDir(), Groups: 1, TTL: time.Hour})
	require.NoError(t, err)
	const rounds = 500
	for range rounds {
		h, err := c.acquire(ctx, "Acquire", []string{"key"}, false, nil)
		require.NoError(t, err)
		lease := &Lease{h}
		var both sync.WaitGroup
		both.Add(2)
		go func() {
			defer both.Done()
			h.own.handleCollected() // as its finalizer does
		}()
		go func() {
			defer both.Done()
			if err := lease.Release(ctx); err != nil {
				t.Errorf("release: %v", err)
			}
		}()
		both.Wait()
		require.False(t, lease.Held())
		require.ErrorIs(t, lease.Err(), ErrReleased)
		require.Equal(t, Released, lease.State())
	}
	status := c.Status()
	require.Zero(t, status.Requests)
	require.Zero(t, status.Groups[0].Leases)
	require.EqualValues(t, rounds, status.Holds.Count(), "each has ended once")
	require.NoError(t, c.Close())
}

// A caller who leaves a request that others wait for too may meet the answer.
func TestWhoLeavesWhenTheAnswerComesIsNotToldThatThereIsNone(t *testing.T) {
	c, err := Open(context.Background(), Config{Dir: t.TempDir(), Groups: 1, TTL: time.Hour})
	require.NoError(t, err)
	h, err := c.acquire(context.Background(), "Acquire", []string{"key"}, false, nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err = h.own.leftBy(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, ErrUnavailable)
	require.NoError(t, c.Close())
}
