package coordinator_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

func TestDo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	node := c.Node(1).Coordinator()
	errWork := errors.New("the work failed")
	isFree := func(t *testing.T) {
		t.Helper()
		lease, err := try(t, c.Node(1), "key")
		require.NoError(t, err, "the key is free when Do has returned")
		release(t, lease)
	}
	t.Run("ReturnsWhatFnReturns", func(t *testing.T) {
		for _, want := range []error{nil, errWork} {
			require.Equal(t, want, node.Do(patient(t), "key", func(_ context.Context, l *coordinator.Lease) error {
				require.True(t, l.Held())
				require.NotZero(t, l.Token())
				return want
			}))
			isFree(t)
		}
	})
	t.Run("ReturnsTheErrorOfTheAcquireAndDoesNotRunFn", func(t *testing.T) {
		holder := acquire(t, c.Node(1), "key")
		ran := false
		err := node.Do(patient(t), "key", func(context.Context, *coordinator.Lease) error {
			ran = true
			return nil
		}, coordinator.WithWait(1))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.False(t, ran)
		release(t, holder)
	})
	t.Run("APanicReleasesAndGoesOn", func(t *testing.T) {
		require.PanicsWithValue(t, "oops", func() {
			_ = node.Do(patient(t), "key", func(context.Context, *coordinator.Lease) error { panic("oops") })
		})
		isFree(t)
	})
	t.Run("GoexitReleases", func(t *testing.T) {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = node.Do(patient(t), "key", func(context.Context, *coordinator.Lease) error {
				runtime.Goexit()
				return nil
			})
			t.Error("Do has returned")
		}()
		<-ended
		isFree(t)
	})
	t.Run("ALossIsReportedEvenWhenFnReturnsNil", func(t *testing.T) {
		for _, want := range []error{nil, errWork} {
			err := node.Do(patient(t), "key", func(ctx context.Context, l *coordinator.Lease) error {
				advance(c, long, 1)
				require.Error(t, ctx.Err(), "the context of fn ends with the lease")
				require.ErrorIs(t, context.Cause(ctx), coordinator.ErrLeaseLost)
				return want
			})
			require.ErrorIs(t, err, coordinator.ErrLeaseLost)
			if want != nil {
				require.ErrorIs(t, err, want, "joined with that of fn")
			}
			require.Equal(t, coordinator.Applied, outcomeOf(t, err))
			awaitNothingLeft(t, c)
		}
	})
	t.Run("FnMayReleaseByItself", func(t *testing.T) {
		require.NoError(t, node.Do(patient(t), "key", func(ctx context.Context, l *coordinator.Lease) error {
			require.NoError(t, l.Release(ctx))
			return nil
		}))
		isFree(t)
	})
	t.Run("TheContextOfFnEndsWithThatOfDo", func(t *testing.T) {
		type valueKey struct{}
		outer, cancel := context.WithCancelCause(context.WithValue(patient(t), valueKey{}, "value"))
		err := node.Do(outer, "key", func(ctx context.Context, l *coordinator.Lease) error {
			require.Equal(t, "value", ctx.Value(valueKey{}))
			require.Equal(t, "value", l.Context().Value(valueKey{}))
			cancel(errWork)
			<-ctx.Done()
			require.ErrorIs(t, context.Cause(ctx), errWork)

			// The release waits until fn has returned.
			require.True(t, l.Held())
			_, err := try(t, c.Node(1), "key")
			require.ErrorIs(t, err, coordinator.ErrBusy)
			return ctx.Err()
		})
		require.ErrorIs(t, err, context.Canceled)
		awaitNothingLeft(t, c) // sent, although ctx had ended
	})
	t.Run("DoAllIsTheSameForSeveralKeys", func(t *testing.T) {
		keys := []string{c.KeyIn(1, "a"), c.KeyIn(2, "b")}
		require.ErrorIs(t, node.DoAll(patient(t), keys, func(_ context.Context, s *coordinator.LeaseSet) error {
			require.True(t, s.Held())
			require.ElementsMatch(t, keys, s.Keys())
			return errWork
		}), errWork)
		require.PanicsWithValue(t, "oops", func() {
			_ = node.DoAll(patient(t), keys, func(context.Context, *coordinator.LeaseSet) error { panic("oops") })
		})
		require.ErrorIs(t, node.DoAll(patient(t), keys, func(context.Context, *coordinator.LeaseSet) error {
			advance(c, long, 1)
			return nil
		}), coordinator.ErrLeaseLost)
		require.ErrorIs(t, node.DoAll(patient(t), nil, nil), coordinator.ErrInvalid)
		awaitNothingLeft(t, c)
	})
}

func TestDoRefusesAMissingFunctionBeforeItAcquires(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	node := c.Node(1).Coordinator()
	before := node.Status().Batches
	require.ErrorIs(t, node.Do(patient(t), "key", nil), coordinator.ErrInvalid)
	require.ErrorIs(t, node.DoAll(patient(t), []string{"a", "b"}, nil), coordinator.ErrInvalid)
	require.Equal(t, before, node.Status().Batches)
}
