package raftlog

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/raftpb"
	"github.com/stretchr/testify/require"
)

// TestAStallIsToldAndEnds: pebble holds a writer back because no table can be
// made. The engine is told that the store is busy, and then that it is not. While
// it is told it holds up whoever tells it for as long as a writer is held back, as
// NodeHost.RemoveData does.
func TestAStallIsToldAndEnds(t *testing.T) {
	var held atomic.Bool
	free := make(chan struct{})
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") && held.Load() {
			<-free
		}
		return nil
	}))
	var nodeHost sync.Mutex // the engine's, as in RemoveData
	told := make(chan config.LogDBInfo, 100)
	called := make(chan struct{}, 100)
	cfg := config.NodeHostConfig{Expert: config.ExpertConfig{LogDB: config.LogDBConfig{Shards: 2}}}
	db, err := NewFactory(Options{FS: fs}).Create(cfg, func(info config.LogDBInfo) {
		called <- struct{}{}
		nodeHost.Lock()
		defer nodeHost.Unlock()
		told <- info
	}, []string{testDir}, nil)
	require.NoError(t, err)
	s := db.(*Store)

	held.Store(true)
	nodeHost.Lock()
	wrote := make(chan error, 1)
	go func() { // one writer, until it was held back
		for index := uint64(1); ; index++ {
			list := entries(1, index, index)
			list[0].Cmd = bytes.Repeat([]byte{1}, memTableBytes/4)
			err := s.SaveRaftState([]raftpb.Update{update(raftpb.State{Term: 1}, list...)}, 1)
			if err != nil || index == memTablesMax*5 {
				wrote <- err
				return
			}
		}
	}()
	<-called
	require.True(t, s.stall.held.Load())
	// The engine holds its mutex and writes: both wait.
	removed := make(chan error, 1)
	go func() {
		defer nodeHost.Unlock()
		removed <- s.RemoveNodeData(7, 7)
	}()
	held.Store(false)
	close(free)
	require.NoError(t, <-wrote)
	require.NoError(t, <-removed)
	for _, busy := range []bool{true, false} {
		for shard := range uint64(2) {
			require.Equal(t, config.LogDBInfo{Shard: shard, Busy: busy}, <-told)
		}
	}
	require.NoError(t, s.Close())
	require.Empty(t, told)
}

const stallChildEnv = "RAFTLOG_TEST_STALL"

// TestAWriterThatIsHeldBackForEverEndsTheProcess: what pebble calls with its mutex
// held, in either order.
func TestAWriterThatIsHeldBackForEverEndsTheProcess(t *testing.T) {
	broken := errors.New("no space")
	child := func(order string) {
		f, s := newFailure("/here", orDiscard(nil)), newStall()
		require.NoError(t, f.opened())
		l := listener(f, s)
		switch order {
		case "StallFirst":
			l.WriteStallBegin(pebble.WriteStallBeginInfo{Reason: "test"})
			l.BackgroundError(broken)
		case "FailureFirst":
			l.BackgroundError(broken)
			l.WriteStallBegin(pebble.WriteStallBeginInfo{Reason: "test"})
		}
	}
	if order := os.Getenv(stallChildEnv); order != "" {
		child(order)
	}
	for _, order := range []string{"StallFirst", "FailureFirst"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAWriterThatIsHeldBackForEverEndsTheProcess$", "-test.timeout=1m")
		cmd.Env = append(os.Environ(), stallChildEnv+"="+order)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "panic: log store /here failed: no space", order)
	}
	t.Run("ButNotOneThatGoesOn", func(t *testing.T) {
		f, s := newFailure("/here", orDiscard(nil)), newStall()
		require.NoError(t, f.opened())
		l := listener(f, s)
		l.WriteStallBegin(pebble.WriteStallBeginInfo{Reason: "test"})
		l.WriteStallEnd()
		l.BackgroundError(broken)
		l.BackgroundError(errors.New("second"))
		require.ErrorIs(t, f.get(), broken, "the first failure is kept")
	})
}
