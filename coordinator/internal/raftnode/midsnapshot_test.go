package raftnode

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lni/vfs"
	"github.com/stretchr/testify/require"
)

// slowSnapshots is a disk that holds up the next file of a snapshot.
type slowSnapshots struct {
	vfs.FS
	begun chan struct{} // has room for one: the file is being made
	held  chan struct{} // closed: it may be
	lift  func()        // closes held
}

func newSlowSnapshots() *slowSnapshots {
	held := make(chan struct{})
	return &slowSnapshots{vfs.Default, make(chan struct{}, 1), held, sync.OnceFunc(func() { close(held) })}
}

// Create implements vfs.FS.
func (f *slowSnapshots) Create(name string) (vfs.File, error) {
	if strings.HasSuffix(name, ".gbsnap") {
		select {
		case f.begun <- struct{}{}:
		default:
		}
		<-f.held
	}
	return f.FS.Create(name)
}

// noFaults is an injector that injects nothing.
type noFaults struct{}

// MaybeError implements vfs.Injector.
func (noFaults) MaybeError(vfs.Op) error { return nil }

// The disk holds up the snapshot that is being taken until Close has got as far
// as the engine. Close waits for it, and the next start has what was applied.
func TestS115CloseWhileTheDiskHoldsASnapshotUp(t *testing.T) {
	var disk *slowSnapshots // of the present start
	c := newCluster(t, 1, withConfig(func(cfg *Config) {
		disk = newSlowSnapshots()
		cfg.SnapshotEntries, cfg.FS = 1, vfs.Wrap(disk, noFaults{})
	}))
	t.Cleanup(func() { disk.lift() })
	p := c.peers[1]
	require.NoError(t, p.start())
	for range 5 {
		held := 0
		for len(disk.begun) == 0 {
			p.acquire(1, fmt.Sprintf("key %d of start %d", held, p.incarnation), time.Hour)
			held++
		}
		leases := fmt.Sprintf("lease 1.%d.", p.incarnation) // what earlier starts left may be swept at any time
		require.Equal(t, held, strings.Count(p.read(1), leases))

		node := p.node
		closed := make(chan error, 1)
		go func() { closed <- node.Close() }()
		require.Eventually(t, func() bool { return errors.Is(node.Transfer(1, 1), ErrClosed) },
			patience, time.Millisecond, "the engine is about to be stopped")
		require.Empty(t, closed, "no snapshot that is being taken is left behind")
		disk.lift()
		require.NoError(t, <-closed)
		p.stop() // the store, too
		require.NoError(t, p.start())
		require.Equal(t, held, strings.Count(p.read(1), leases))
	}
}
