package raftlog

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// crash is what a disk may hold after the power failed at one moment.
type crash struct {
	fs   *vfs.MemFS
	at   string
	torn bool // has a random part of what was not synced
	// Of a list of operations, low were durable before the moment, and high had
	// begun when it was over.
	low, high int
}

// camera is a file system that pictures the disk of a crash before an operation
// that changes something.
type camera struct {
	vfs.FS
	mem *vfs.MemFS

	begun, durable atomic.Int64 // see crash

	mu    sync.Mutex // guards what follows
	every int        // of the operations, one in so many is pictured
	ops   int
	rng   *rand.Rand
	album []crash
}

func newCamera(rng *rand.Rand) *camera {
	// Pebble's goroutines draw from this source too, so it is not the test's.
	own := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
	c := &camera{mem: vfs.NewCrashableMem(), rng: own, every: 2 * sample}
	c.FS = errorfs.Wrap(c.mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			c.operation(fmt.Sprintf("kind %d on %s", op.Kind, op.Path))
		}
		return nil
	}))
	return c
}

func (c *camera) operation(at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ops++
	if c.ops%c.every == 0 {
		c.shoot(fmt.Sprintf("file operation %d: %s", c.ops, at))
	}
}

// shoot adds two pictures: one of what was synced, and one with a random part
// of what was not.
func (c *camera) shoot(at string) {
	for _, percent := range []int{0, c.rng.IntN(100)} {
		low := int(c.durable.Load())
		fs := c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: c.rng})
		c.album = append(c.album, crash{
			fs: fs, at: fmt.Sprintf("%s, %d%% of what was not synced", at, percent),
			torn: percent > 0, low: low, high: int(c.begun.Load()),
		})
	}
}

// now adds pictures of this moment.
func (c *camera) now(at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shoot(at)
}

// each calls fn with what was pictured, and forgets it: a picture is a copy of the
// whole disk.
func (c *camera) each(t *testing.T, fn func(crash crash)) {
	c.mu.Lock()
	album := c.album
	c.album = nil
	c.mu.Unlock()
	for _, crash := range album {
		if crash.torn && impossible(crash.fs) {
			continue
		}
		fn(crash)
		if t.Failed() {
			t.Fatalf("after a crash at %s", crash.at)
		}
	}
}

// impossible reports whether the picture shows a file system that does not exist:
// one that keeps the name of pebble's marker but loses the name of the manifest it
// points to, a file of the same directory that was made earlier and was synced.
// Real ones log the changes of a directory in order, and pebble relies on it.
func impossible(fs *vfs.MemFS) bool {
	dir := fs.PathJoin(testDir, DirName)
	manifest, err := atomicfs.ReadMarker(fs, dir, "manifest")
	if err != nil || manifest == "" {
		return false
	}
	_, err = fs.Stat(fs.PathJoin(dir, manifest))
	return errors.Is(err, os.ErrNotExist)
}
