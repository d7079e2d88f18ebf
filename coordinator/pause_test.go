package coordinator_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// impatient is a context that ends when it was asked often, so that a program
// that spins comes to an end.
type impatient struct {
	context.Context
	asked atomic.Int32
}

func (c *impatient) Err() error {
	if c.asked.Add(1) > 100 {
		return context.Canceled
	}
	return c.Context.Err()
}

// The program in example_node_test.go asks again after a failure, but not at
// once, and not for what can't succeed.
func TestTheExampleOfANodePausesBeforeItAsksAgain(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, 1)
	node, ctx := cluster.Node(1), patient(t)
	require.ErrorIs(t, exportUntil(ctx, node.Coordinator(), nil, coordinator.WithTTL(1)), coordinator.ErrInvalid)

	node.SetDiskFree(coordinator.DiskSpaceMin - 1)
	require.NoError(t, cluster.Await(ctx, "the node to be short of disk space", func() bool {
		return node.Coordinator().Status().DiskErr != nil
	}))
	stop, end := context.WithCancel(ctx)
	defer end()
	again, ended := make(chan time.Time), make(chan error, 1)
	go func() { ended <- exportUntil(&impatient{Context: stop}, node.Coordinator(), again) }()
	for range 3 {
		select {
		case again <- time.Time{}:
		case err := <-ended:
			require.FailNow(t, "it does not pause", "it ended: %v", err)
		}
	}
	end()
	require.NoError(t, <-ended)

	require.NoError(t, node.Coordinator().Close())
	require.ErrorIs(t, exportUntil(ctx, node.Coordinator(), nil), coordinator.ErrClosed)
}
