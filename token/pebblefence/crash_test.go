package pebblefence

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
	"github.com/stretchr/testify/require"
)

// picture is what a disk may hold after the power failed at one moment. Of the
// steps, low had returned before, and high had begun.
type picture struct {
	fs        *vfs.MemFS
	at        string
	low, high int
}

// camera is a file system that pictures the disk before each operation that
// changes something.
type camera struct {
	vfs.FS
	mem         *vfs.MemFS
	begun, done atomic.Int64
	mu          sync.Mutex // guards what follows: the engine has goroutines
	operations  int
	rng         *rand.Rand
	album       []picture
}

func newCamera(rng *rand.Rand) *camera {
	c := &camera{mem: vfs.NewCrashableMem(), rng: rng}
	c.FS = errorfs.Wrap(c.mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			c.shoot(fmt.Sprintf("kind %d on %s", op.Kind, op.Path))
		}
		return nil
	}))
	return c
}

// shoot adds two pictures: of what was synced, and of that with a random part of
// the rest.
func (c *camera) shoot(at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.operations++
	for _, percent := range []int{0, 1 + c.rng.IntN(100)} {
		low := int(c.done.Load())
		fs := c.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: c.rng})
		if percent > 0 && impossible(fs) {
			continue
		}
		c.album = append(c.album, picture{
			fs: fs, low: low, high: int(c.begun.Load()),
			at: fmt.Sprintf("operation %d: %s, %d%% of what was not synced", c.operations, at, percent),
		})
	}
}

// impossible reports whether the picture shows a file system that does not
// exist: one that keeps the name of the engine's marker but loses that of the
// manifest it points to, which was made and synced earlier.
func impossible(fs *vfs.MemFS) bool {
	manifest, err := atomicfs.ReadMarker(fs, testDir, "manifest")
	if err != nil || manifest == "" {
		return false
	}
	_, err = fs.Stat(fs.PathJoin(testDir, manifest))
	return errors.Is(err, os.ErrNotExist)
}

// TestACrashLeavesFenceDataAndOperationTogether: a crash before every operation
// of the file system that changes something, in New and in each step.
func TestACrashLeavesFenceDataAndOperationTogether(t *testing.T) {
	all := states(t)
	cam := newCamera(newRand(t))
	db, err := openSmall(testDir, cam)
	require.NoError(t, err)
	opened := len(cam.album)
	g, err := stepsGuard(db)
	require.NoError(t, err)
	for n, step := range steps() {
		cam.begun.Store(int64(n + 1))
		require.NoError(t, step(g))
		cam.done.Store(int64(n + 1))
		cam.shoot(fmt.Sprintf("after step %d", n+1))
	}
	require.NoError(t, db.Close())
	album := cam.album[opened:]
	require.Greater(t, len(album), 60)

	before, after := 0, 0
	for i, p := range album {
		if i%sample != 0 {
			continue
		}
		db, err := openSmall(testDir, p.fs)
		require.NoError(t, err, p.at)
		found := checkLeft(t, db, all, p.low, p.high, p.at)
		if p.low < p.high && found == p.low {
			before++
		}
		if p.low < p.high && found == p.high {
			after++
		}
		require.NoError(t, db.Close())
	}
	t.Logf("%d crashes; within a step: %d left what was before it, %d what came after", len(album), before, after)
	require.Greater(t, before, 10/sample)
	if sample == 1 {
		require.Positive(t, after, "no crash kept what was not acknowledged")
	}
}
