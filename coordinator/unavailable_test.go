package coordinator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// What is said when the time to wait is over.
func TestADeadlineErrorSaysWhatItWas(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	wait := coordinator.WithWait(2 * locktest.ElectionTimeout)
	holder := acquire(t, c.Node(2), "key", coordinator.WithMetadata("a secret"))
	id := coordinator.WithRequestID("id")
	t.Run("QueuedBehindWhom", func(t *testing.T) {
		for _, opts := range [][]coordinator.AcquireOption{nil, {id}} {
			err := timedOut(t, c.Node(1), "key", opts...)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.NotErrorIs(t, err, coordinator.ErrUnavailable)
			require.ErrorContains(t, err, "in line")
			require.ErrorContains(t, err, `"key" is held by node 2 with token `+holder.Token().String())
			require.NotContains(t, err.Error(), "a secret")
			awaitLine(t, c, c.Node(2), "key", 0)
		}
	})
	t.Run("TheCauseOfACancellationIsFound", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(patient(t))
		waiting := make(chan error, 1)
		go func() {
			_, err := c.Node(1).Coordinator().Acquire(ctx, "key")
			waiting <- err
		}()
		awaitLine(t, c, c.Node(2), "key", 1)
		enough := errors.New("enough")
		cancel(enough)
		err := <-waiting
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, enough)
	})
	t.Run("NoQuorum", func(t *testing.T) {
		c.Isolate(1)
		for _, opts := range [][]coordinator.AcquireOption{{wait}, {wait, id}, {wait, id}} {
			_, err := c.Node(1).Coordinator().Acquire(patient(t), "key", opts...)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, coordinator.ErrUnavailable)
		}
		awaitCut(t, c, 1)
	})
}

func TestWithoutAQuorum(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c.Node(2).Kill()
	c.Node(3).Kill()
	node := c.Node(1).Coordinator()
	const bound = 3 * locktest.ElectionTimeout // a busy machine may be late
	for name, call := range map[string]func() error{
		"TryAcquire":    func() error { _, err := node.TryAcquire(context.Background(), "key"); return err },
		"TryAcquireAll": func() error { _, err := node.TryAcquireAll(context.Background(), []string{"a", "b", "c"}); return err },
		"TryAcquireWithID": func() error {
			_, err := node.TryAcquire(context.Background(), "key", coordinator.WithRequestID("of the try"))
			return err
		},
		"Inspect": func() error { _, err := node.Inspect(context.Background(), "key"); return err },
		"Resolve": func() error { _, err := node.Resolve(context.Background(), "key", "id"); return err },
	} {
		t.Run(name+"GivesUpAfterThreeElectionTimeouts", func(t *testing.T) {
			began := time.Now()
			err := call()
			require.ErrorIs(t, err, coordinator.ErrUnavailable)
			require.NotErrorIs(t, err, context.DeadlineExceeded, "nobody's deadline has passed")
			require.ErrorContains(t, err, "3 election timeouts")
			require.GreaterOrEqual(t, time.Since(began), bound)
			require.Less(t, time.Since(began), patience)
		})
	}
	t.Run("WaitReadyNamesTheGroup", func(t *testing.T) {
		short, cancel := context.WithTimeout(context.Background(), locktest.ElectionTimeout)
		defer cancel()
		err := node.WaitReady(short)
		require.ErrorIs(t, err, coordinator.ErrUnavailable)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "group 1")
	})
	t.Run("AcquireWaitsUntilThereIsOneAgain", func(t *testing.T) {
		waiting := ask(t, c.Node(1), "key")
		changes := c.Faults().LeaderChanges
		c.Node(2).Restart()
		lease := waiting.granted()
		require.True(t, lease.Held())
		require.Greater(t, c.Faults().LeaderChanges, changes)
		release(t, lease)
		awaitNothingLeft(t, c)
	})
}
