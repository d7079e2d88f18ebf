package pebbletest

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

// Crash is what a disk may hold after the power failed at one moment.
type Crash struct {
	FS *vfs.MemFS
	// At says which moment it was.
	At string
	// Of the steps of a test, Low were durable before the moment, and High had
	// begun when it was over.
	Low, High int

	torn bool // has a random part of what was not synced
}

// Camera is a file system in memory that pictures the disk of a crash before an
// operation that changes something.
type Camera struct {
	vfs.FS
	// Begun and Durable are set by the test, to how many of its steps have begun
	// and to how many are durable. See Crash.
	Begun, Durable atomic.Int64

	mem *vfs.MemFS
	dir string // of the database

	mu         sync.Mutex       // guards what follows: pebble has goroutines
	take       func(n int) bool // whether the n-th operation is pictured
	operations int
	rng        *rand.Rand
	album      []Crash
}

// NewCamera returns a camera for a database in dir. It pictures every operation
// until Only says which.
func NewCamera(dir string, rng *rand.Rand) *Camera {
	// Pebble's goroutines draw from this source too, so it is not the test's.
	own := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
	c := &Camera{mem: vfs.NewCrashableMem(), dir: dir, rng: own, take: Every(1)}
	c.FS = errorfs.Wrap(c.mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			c.operation(fmt.Sprintf("kind %d on %s", op.Kind, op.Path))
		}
		return nil
	}))
	return c
}

// Every takes one of k operations.
func Every(k int) func(n int) bool { return func(n int) bool { return n%k == 0 } }

// Only sets which operations are pictured from now on, and throws away what was
// pictured so far. One call of take ends before the next begins.
func (c *Camera) Only(take func(n int) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take, c.operations, c.album = take, 0, nil
}

func (c *Camera) operation(at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.operations++
	if c.take(c.operations) {
		c.shoot(fmt.Sprintf("operation %d: %s", c.operations, at))
	}
}

// Now adds pictures of this moment.
func (c *Camera) Now(at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shoot(at)
}

// shoot adds two pictures: one of what was synced, and one with a random part of
// what was not.
func (c *Camera) shoot(at string) {
	for _, percent := range []int{0, 1 + c.rng.IntN(100)} {
		low := int(c.Durable.Load())
		fs := c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: c.rng})
		c.album = append(c.album, Crash{
			FS: fs, At: fmt.Sprintf("%s, %d%% of what was not synced", at, percent),
			Low: low, High: int(c.Begun.Load()), torn: percent > 0,
		})
	}
}

// Synced returns a disk with nothing but what is synced.
func (c *Camera) Synced() *vfs.MemFS { return c.mem.CrashClone(vfs.CrashCloneCfg{}) }

// Pictures returns how many there are that Each has not yet shown.
func (c *Camera) Pictures() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.album)
}

// Each calls fn with what was pictured, and forgets it: a picture is a copy of the
// whole disk.
func (c *Camera) Each(t *testing.T, fn func(crash Crash)) {
	t.Helper()
	c.mu.Lock()
	album := c.album
	c.album = nil
	c.mu.Unlock()
	for _, crash := range album {
		if crash.torn && Impossible(crash.FS, c.dir) {
			continue
		}
		fn(crash)
		if t.Failed() {
			t.Fatalf("after a crash at %s", crash.At)
		}
	}
}

// Impossible reports whether a disk with a random part of what was not synced is
// one of a file system that does not exist: it keeps the name of pebble's marker in
// dir, but loses the name of the manifest it points to, a file of the same
// directory that was made earlier and was synced. Real ones log the changes of a
// directory in order, and pebble relies on it.
func Impossible(fs vfs.FS, dir string) bool {
	manifest, err := atomicfs.ReadMarker(fs, dir, "manifest")
	if err != nil || manifest == "" {
		return false
	}
	_, err = fs.Stat(fs.PathJoin(dir, manifest))
	return errors.Is(err, os.ErrNotExist)
}
