package pebblestore

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// gatedFS can hold back the creation of tables, with which a flush begins.
type gatedFS struct {
	vfs.FS
	held  atomic.Bool
	begun chan struct{} // one for each creation that is held
	free  chan struct{} // one lets one go on
}

func newGatedFS(mem *vfs.MemFS) *gatedFS {
	g := &gatedFS{begun: make(chan struct{}, 100), free: make(chan struct{})}
	g.FS = errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			if g.held.Load() {
				g.begun <- struct{}{}
				<-g.free
			}
		}
		return nil
	}))
	return g
}

func TestFlush(t *testing.T) {
	t.Run("WithNothingCommittedTouchesNoFile", func(t *testing.T) {
		var ops atomic.Int64
		fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(errorfs.Op) error {
			ops.Add(1)
			return nil
		}))
		s := openAt(t, fs)
		commit(t, imageOf(t, s, 1, 1), set("a", "1"))
		require.NoError(t, s.Flush())
		ops.Store(0)
		for range 10 {
			require.NoError(t, s.Flush())
		}
		require.Zero(t, ops.Load())
		commit(t, imageOf(t, s, 1, 1), set("a", "2"))
		require.NoError(t, s.Flush())
		require.Positive(t, ops.Load())
	})
	t.Run("CallsThatOverlapShareTheNextOne", func(t *testing.T) {
		fs := newGatedFS(vfs.NewMem())
		s := openAt(t, fs)
		image := imageOf(t, s, 1, 1)
		commit(t, image, set("a", "1"))
		fs.held.Store(true)
		before := s.db.Metrics().Flush.Count

		var calls sync.WaitGroup
		call := func() {
			calls.Add(1)
			go func() {
				defer calls.Done()
				if err := s.Flush(); err != nil {
					panic(err)
				}
			}()
		}
		call()
		<-fs.begun // the first flush runs
		// What is committed now is not part of it, so these need another one:
		// one, not fifty.
		commit(t, image, set("a", "2"))
		for range 50 {
			call()
		}
		for {
			s.gate.mu.Lock()
			inside := s.gate.mu.inside
			s.gate.mu.Unlock()
			if inside == 51 {
				break
			}
			runtime.Gosched()
		}
		fs.held.Store(false)
		fs.free <- struct{}{}
		calls.Wait()
		require.EqualValues(t, 2, s.db.Metrics().Flush.Count-before)
	})
	t.Run("EveryCallCoversTheCommitsBeforeIt", func(t *testing.T) {
		mem := vfs.NewCrashableMem()
		s, err := open(testDir, Options{FS: mem}, smallMemTable)
		require.NoError(t, err)
		var groups sync.WaitGroup
		for group := range uint64(8) {
			image := imageOf(t, s, group, 1)
			groups.Add(1)
			go func() {
				defer groups.Done()
				for n := range 20 {
					value := strings.Repeat("x", n)
					if image.Commit([]statemachine.Record{set("n", value)}) != nil || s.Flush() != nil {
						panic("failed")
					}
					// What this group sees as durable survives a crash now.
					got, err := openAndLoad(mem.CrashClone(vfs.CrashCloneCfg{}), group)
					if err != nil || len(got["n"]) < n {
						panic("a commit before Flush was lost")
					}
				}
			}()
		}
		groups.Wait()
		require.NoError(t, s.Close())
	})
}
