package main

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// asks counts the lines in which the worker says that it asks again. A worker
// that says so too often is told to end.
type asks struct {
	count atomic.Int32
	most  int32
	end   func()
}

func (a *asks) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("asks again: ")) && a.count.Add(1) > a.most {
		a.end()
	}
	return len(line), nil
}

// A call that fails at once is not made again at once.
func TestTheWorkerPausesBeforeItAsksAgain(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cluster := locktest.New(t, 1)
	node := cluster.Node(1)
	node.SetDiskFree(coordinator.DiskSpaceMin - 1)
	require.NoError(t, cluster.Await(ctx, "the node to be short of disk space", func() bool {
		return node.Coordinator().Status().DiskErr != nil
	}))

	const pauses = 3
	stop, end := context.WithCancel(ctx)
	defer end()
	again, said := make(chan time.Time), &asks{most: pauses + 1, end: end}
	w := &worker{node: node.Coordinator(), key: "report", out: said, again: again}
	ended := make(chan error, 1)
	go func() { ended <- w.run(stop) }()
	for range pauses {
		select {
		case again <- time.Time{}:
		case err := <-ended:
			require.FailNow(t, "it does not pause", "asked %d times: %v", said.count.Load(), err)
		}
	}
	end() // a pause ends with the work
	require.NoError(t, <-ended)
	require.LessOrEqual(t, said.count.Load(), said.most)
}

func TestTheWorkerDoesNotAskAgainForWhatIsInvalid(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w := &worker{node: locktest.New(t, 1).Node(1).Coordinator(), key: "", out: io.Discard}
	require.ErrorIs(t, w.run(ctx), coordinator.ErrInvalid)
}
