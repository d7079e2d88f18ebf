package raftnode

import (
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	sm "github.com/lni/dragonboat/v4/statemachine"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
)

// slowDisk blocks whoever makes a file while hold is set.
type slowDisk struct {
	vfs.FS
	hold    chan struct{} // nil: it does not block
	entered chan struct{} // has room for one
}

func (d *slowDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if d.hold != nil {
		select {
		case d.entered <- struct{}{}:
		default:
		}
		<-d.hold
	}
	return d.FS.Create(name, category)
}

// awaitRest waits until the apply loop has ended its turn.
func awaitRest(t *testing.T, r *replica) {
	require.Eventually(t, func() bool {
		_, busy := r.applying.Since()
		return !busy
	}, patience, time.Millisecond)
}

func TestApplyingSince(t *testing.T) {
	t.Run("IsSetWhileASinkBlocksTheLoop", func(t *testing.T) {
		p := start(t, 1).peers[1]
		p.send(1)
		awaitRest(t, p.node.replica(1))
		data := p.encode(1)
		sink := p.sinks[0]
		sink.mu.Lock()
		goOn := sync.OnceFunc(sink.mu.Unlock)
		defer goOn()
		done := make(chan error, 1)
		before := time.Now()
		p.node.Propose(1, data, election, func(err error) { done <- err })
		require.Eventually(t, func() bool {
			since, busy := p.node.ApplyingSince(1)
			return busy && !since.Before(before)
		}, patience, time.Millisecond)
		goOn()
		<-done
		awaitRest(t, p.node.replica(1))
	})

	t.Run("IsSetWhileTheStoreIsSynced", func(t *testing.T) {
		disk := &slowDisk{FS: vfs.NewMem(), entered: make(chan struct{}, 1)}
		store, err := pebblestore.Open("store", pebblestore.Options{FS: disk})
		require.NoError(t, err)
		defer func() { require.NoError(t, store.Close()) }()
		r, err := openReplica(aloneConfig(store, newRecorder()), 1, time.Second)
		require.NoError(t, err)
		_, err = r.Update([]sm.Entry{acquisition(t, 1, "a")})
		require.NoError(t, err)
		_, busy := r.applying.Since()
		require.False(t, busy, "between turns")

		disk.hold = make(chan struct{})
		goOn := sync.OnceFunc(func() { close(disk.hold) })
		defer goOn()
		synced := make(chan error, 1)
		go func() { synced <- r.Sync() }()
		<-disk.entered
		_, busy = r.applying.Since()
		require.True(t, busy)
		goOn()
		require.NoError(t, <-synced)
		_, busy = r.applying.Since()
		require.False(t, busy)
	})

	t.Run("IsNotSetForAnUnknownGroup", func(t *testing.T) {
		p := start(t, 1).peers[1]
		for _, group := range []statemachine.GroupID{0, 2} {
			_, busy := p.node.ApplyingSince(group)
			require.False(t, busy)
		}
	})
}
