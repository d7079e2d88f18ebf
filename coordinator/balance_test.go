package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/coordinator"
)

// S120: nodes are opened and closed, fail to open, and have acquires that are
// cancelled, again and again: the sessions of the case are nodes. No goroutine,
// file or heap stays. TestNothingIsLeftAfterCloseAndShutdown has clusters over
// TCP.
func TestS120GoroutinesFilesAndHeapBalance(t *testing.T) {
	dir, blocked := t.TempDir(), t.TempDir()
	open := func() *coordinator.Coordinator {
		c, err := coordinator.Open(patient(t), coordinator.Config{Dir: dir, Groups: 2, TTL: long})
		require.NoError(t, err)
		return c
	}
	other, err := coordinator.Open(patient(t), coordinator.Config{Dir: blocked, Groups: 2, TTL: long})
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	require.NoError(t, other.WaitReady(patient(t)))
	held, err := other.Acquire(patient(t), "held")
	require.NoError(t, err)

	restarts := func(n int) {
		for range n {
			c := open()
			_, err := c.Acquire(patient(t), "key")
			require.NoError(t, err)
			require.NoError(t, c.Close())
		}
	}
	cancelled := func(n int) {
		const workers = 50
		parallel(workers, func(w int) {
			for i := range n / workers {
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error, 1)
				go func() {
					_, err := other.Acquire(ctx, "held", coordinator.WithMetadata(fmt.Sprint(w, i)))
					done <- err
				}()
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("a cancelled acquire: %v", err)
				}
			}
		})
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	failed := func(n int) {
		for i := range n {
			ctx, cfg := context.Background(), coordinator.Config{Dir: dir, Groups: 2}
			switch i % 4 {
			case 0:
				cfg.Dir = blocked // in use
			case 1:
				cfg.Groups = 3 // not as it was born
			case 2:
				cfg.Groups = -1
			case 3:
				ctx = ended
			}
			c, err := coordinator.Open(ctx, cfg)
			require.Error(t, err)
			require.Nil(t, c)
		}
	}
	restarts(3)
	cancelled(500)
	failed(20)
	release(t, held)
	held, err = other.Acquire(patient(t), "held")
	require.NoError(t, err)

	goroutines, files, heap := goleak.IgnoreCurrent(), openFiles(t), coordinator.HeapInUse()
	restarts(20)
	cancelled(2000)
	failed(200)
	require.NoError(t, other.WaitReady(patient(t)))
	require.NoError(t, goleak.Find(goroutines))
	requireFiles(t, files)
	after := coordinator.HeapInUse()
	t.Logf("heap %d KiB before and %d KiB after", heap>>10, after>>10)
	require.LessOrEqual(t, after, heap+coordinator.HeapGrowthMax)
	release(t, held)
}
