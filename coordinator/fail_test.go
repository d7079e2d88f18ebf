package coordinator

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A node that learns that it may no longer speak for its id ends all that it
// has, and leaves the process alone.
func TestANodeThatMayNotSpeakStops(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := Open(ctx, Config{Dir: t.TempDir(), Groups: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	lease, err := c.Acquire(ctx, "key")
	require.NoError(t, err)
	waiting := make(chan error, 1)
	go func() {
		_, err := c.Acquire(ctx, "key")
		waiting <- err
	}()
	require.Eventually(t, func() bool { return c.Status().Groups[0].Waits == 1 }, time.Minute, time.Millisecond)

	cause := errors.New("superseded")
	c.fail(cause)
	c.fail(errors.New("the first cause counts"))
	require.False(t, lease.Held())
	<-lease.Done()
	require.ErrorIs(t, lease.Err(), ErrLeaseLost)
	require.ErrorIs(t, lease.Err(), cause)
	err = <-waiting
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, err, cause)
	_, err = c.TryAcquire(ctx, "other")
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, err, cause)
	require.Equal(t, cause, c.Status().Err)
}

func TestAReleaseEndsWithANodeThatMayNotSpeak(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := Open(ctx, Config{Dir: t.TempDir(), Groups: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	lease, err := c.Acquire(ctx, "key")
	require.NoError(t, err)
	lease.handle.own.opened(nil) // as if a group had not confirmed the end of it
	released := make(chan error, 1)
	go func() { released <- lease.Release(context.Background()) }()
	<-lease.Done()
	c.fail(errors.New("superseded"))
	select {
	case err := <-released:
		require.ErrorIs(t, err, ErrClosed)
	case <-ctx.Done():
		require.FailNow(t, "Release waits for what will not come")
	}
}
