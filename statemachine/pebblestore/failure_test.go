package pebblestore

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// failingFS fails every operation on tables that changes something while failing
// is set.
type failingFS struct {
	vfs.FS
	failing atomic.Bool
}

func newFailingFS(mem *vfs.MemFS) *failingFS {
	f := &failingFS{}
	f.FS = errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if f.failing.Load() && strings.HasSuffix(op.Path, ".sst") && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	return f
}

func TestAFailingDisk(t *testing.T) {
	t.Run("FailsTheFlushInsteadOfBlockingIt", func(t *testing.T) {
		mem := vfs.NewCrashableMem()
		fs := newFailingFS(mem)
		s, err := open(testDir, Options{FS: fs}, smallMemTable)
		require.NoError(t, err)
		image := imageOf(t, s, 1, 1)
		commit(t, image, set("a", "durable"))
		require.NoError(t, s.Flush())
		commit(t, image, set("a", "not durable"))
		fs.failing.Store(true)
		err = s.Flush()
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.ErrorContains(t, err, testDir)

		// The failure is final, though the disk is well again: nobody knows what
		// the operating system did with what it failed to write.
		fs.failing.Store(false)
		require.ErrorIs(t, image.Commit([]statemachine.Record{set("a", "later")}), syscall.ENOSPC)
		require.ErrorIs(t, image.Recover(bytes.NewReader(nil), nil), syscall.ENOSPC)
		require.ErrorIs(t, image.Remove(), syscall.ENOSPC)
		require.Equal(t, "not durable", contents(t, image)["a"], "what was committed can still be read")
		require.ErrorIs(t, s.Close(), syscall.ENOSPC)
		require.ErrorIs(t, s.Close(), syscall.ENOSPC)

		s = openAt(t, mem.CrashClone(vfs.CrashCloneCfg{}))
		require.Contains(t, []string{"durable", "not durable"}, contents(t, imageOf(t, s, 1, 1))["a"])
	})
	t.Run("FailsEveryFlushThatWaits", func(t *testing.T) {
		gated := newGatedFS(vfs.NewMem())
		fs := &failingFS{}
		fs.FS = errorfs.Wrap(gated, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if fs.failing.Load() && strings.HasSuffix(op.Path, ".sst") && op.Kind == errorfs.OpFileWrite {
				return syscall.EIO
			}
			return nil
		}))
		s, err := open(testDir, Options{FS: fs}, smallMemTable)
		require.NoError(t, err)
		image := imageOf(t, s, 1, 1)
		commit(t, image, set("a", "1"))
		gated.held.Store(true)
		fs.failing.Store(true)
		results := make(chan error, 9)
		go func() { results <- s.Flush() }()
		<-gated.begun
		commit(t, image, set("a", "2"))
		for range 8 {
			go func() { results <- s.Flush() }()
		}
		gated.held.Store(false)
		gated.free <- struct{}{}
		for range 9 {
			require.ErrorIs(t, <-results, syscall.EIO)
		}
		require.ErrorIs(t, s.Close(), syscall.EIO)
	})
	t.Run("EndsAWriterThatIsHeldBackByAPanicWithAnError", func(t *testing.T) {
		// The engine calls these two with its mutex held, in either order.
		broken := errors.New("no space")
		f := newFailure("/here", discardLog())
		listener := f.listener()
		listener.WriteStallBegin(pebble.WriteStallBeginInfo{Reason: "test"})
		requirePanicsWith(t, broken, func() { listener.BackgroundError(broken) })

		f = newFailure("/here", discardLog())
		listener = f.listener()
		listener.WriteStallBegin(pebble.WriteStallBeginInfo{Reason: "test"})
		listener.WriteStallEnd()
		listener.BackgroundError(broken)
		require.ErrorIs(t, f.get(), broken, "nobody is held back: no panic")
	})
	t.Run("EndsAWriterThatIsHeldBackLater", func(t *testing.T) {
		if os.Getenv(stallChildEnv) != "" {
			f := newFailure("/here", discardLog())
			f.set(errors.New("no space"))
			f.listener().WriteStallBegin(pebble.WriteStallBeginInfo{Reason: "test"})
			select {} // as the engine would
		}
		child := exec.Command(os.Args[0], "-test.run=^TestAFailingDisk$/^EndsAWriterThatIsHeldBackLater$", "-test.timeout=1m")
		child.Env = append(os.Environ(), stallChildEnv+"=1")
		out, err := child.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "panic: lock store /here failed: no space")
	})
	t.Run("IsNotOneThatCanNotSayHowFullItIs", func(t *testing.T) {
		fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpGetDiskUsage {
				return syscall.EIO
			}
			return nil
		}))
		s, err := Open(testDir, Options{FS: fs})
		require.NoError(t, err)
		for range 3 {
			commit(t, imageOf(t, s, 1, 1), set("a", "1"))
			require.NoError(t, s.Flush())
		}
		require.NoError(t, s.Close())
	})
	t.Run("KeepsTheFirstFailure", func(t *testing.T) {
		first := errors.New("first")
		f := newFailure("/here", discardLog())
		require.NoError(t, f.get())
		f.set(first)
		f.set(errors.New("second"))
		require.ErrorIs(t, f.get(), first)
		require.ErrorContains(t, f.get(), "/here")
	})
}

const stallChildEnv = "PEBBLESTORE_TEST_STALL"

func discardLog() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func requirePanicsWith(t *testing.T, cause error, fn func()) {
	t.Helper()
	defer func() {
		err, ok := recover().(error)
		require.True(t, ok, "the panic must carry an error")
		require.ErrorIs(t, err, cause)
	}()
	fn()
}
