package pebblefence

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// fatalLog does what a test wants when the engine can't go on.
type fatalLog struct {
	quietLog
	fatalf func(error)
	called atomic.Int64
}

func (l *fatalLog) Fatalf(format string, args ...any) {
	l.called.Add(1)
	l.fatalf(fmt.Errorf(format, args...))
}

var errDisk = errors.New("the disk is gone")

// brokenGuard is a guard whose database can't write its log once broken is set.
func brokenGuard(t *testing.T, fatalf func(error)) (g *Guard, log *fatalLog, broken *atomic.Bool) {
	broken = new(atomic.Bool)
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if broken.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.HasSuffix(op.Path, ".log") {
			return errDisk
		}
		return nil
	}))
	log = &fatalLog{fatalf: fatalf}
	opts := options(fs)
	opts.Logger = log
	db, err := pebble.Open(testDir, opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		broken.Store(false)
		_ = db.Close() // it says again what it could not write
	})
	return newGuard(t, db), log, broken
}

// TestACommitThatFails: what the engine shows afterwards may not be on disk, so
// nothing of it may be told.
func TestACommitThatFails(t *testing.T) {
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	for name, fatalf := range map[string]func(error){
		"AndReturns": func(error) {},
		"AndPanics":  func(err error) { panic(err) },
		"AndExits":   func(error) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			g, log, broken := brokenGuard(t, fatalf)
			ctx := context.Background()
			broken.Store(true)
			var err error
			var panicked any
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				defer func() { panicked = recover() }()
				_, err = g.Do(ctx, w, put("data", "perhaps"))
			}()
			<-ended
			require.Positive(t, log.called.Load(), "the fault happened")
			switch name {
			case "AndReturns":
				require.ErrorIs(t, err, token.ErrUnknown)
				require.ErrorIs(t, err, errDisk)
			case "AndPanics":
				require.ErrorContains(t, panicked.(error), errDisk.Error())
			case "AndExits":
				require.Nil(t, panicked)
			}
			require.Equal(t, "perhaps", read(t, g.store.db, "data"), "the engine shows what may not be on disk")

			broken.Store(false)
			_, err = g.Do(ctx, w, nothing(t))
			require.ErrorIs(t, err, ErrFailed, "the operation is found, and must not be called done")
			for name, call := range methods(g) {
				require.ErrorIs(t, call(token.Write{Resource: "other", Token: 9}), ErrFailed, name)
			}
			_, err = g.Highest(ctx, "r")
			require.ErrorIs(t, err, ErrFailed)
			require.Zero(t, g.turns.Callers("r"))
		})
	}
}

func TestAReadThatFailsWritesNothing(t *testing.T) {
	var broken atomic.Bool
	mem := vfs.NewMem()
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if broken.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsRead && strings.HasSuffix(op.Path, ".sst") {
			return errDisk
		}
		return nil
	}))
	opts := options(fs)
	opts.CacheSize = 1
	db, err := pebble.Open(testDir, opts)
	require.NoError(t, err)
	defer db.Close()
	g := newGuard(t, db)
	ctx := context.Background()
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	_, err = g.Do(ctx, w, put("data", "first"))
	require.NoError(t, err)
	require.NoError(t, db.Flush())
	before := dump(t, db)

	broken.Store(true)
	for name, call := range methods(g) {
		require.ErrorIs(t, call(token.Write{Resource: "r", Token: 9}), errDisk, name)
	}
	broken.Store(false)
	require.Equal(t, before, dump(t, db))
	again, err := g.Do(ctx, w, nothing(t))
	require.NoError(t, err, "a read that failed ends nothing")
	require.True(t, again.Repeated)
}

func TestAnEnginesPanicBeforeTheCommitPassesThrough(t *testing.T) {
	opts := options(vfs.NewMem())
	opts.FormatMajorVersion = pebble.FormatMinSupported
	db, err := pebble.Open(testDir, opts)
	require.NoError(t, err)
	defer db.Close()
	g := newGuard(t, db)
	w := token.Write{Resource: "r", Token: 5, Operation: "o"}
	require.Panics(t, func() {
		_, _ = g.Do(context.Background(), w, func(b *pebble.Batch) ([]byte, error) {
			return nil, b.DeleteSized([]byte("k"), 3, nil) // needs a later format
		})
	})
	receipt, err := g.Do(context.Background(), w, put("data", "x"))
	require.NoError(t, err, "nothing was begun, so the guard goes on")
	require.False(t, receipt.Repeated)
}
