package coordinator_test

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
)

// The last thing that a node on its own writes in Open is that it takes part. If
// that fails the engine runs already, and must not go on over a store that is
// closed: it would end the process. So the same process can open the directory
// again.
func TestOpenThatFailsAtItsLastWriteStopsTheEngine(t *testing.T) {
	dir := t.TempDir()
	inTheWay := filepath.Join(dir, "peers.json.new")
	var looks atomic.Int32
	var once sync.Once
	ctx := inject.With(patient(t), inject.Env{Gauge: func(string) (uint64, error) {
		if looks.Add(1) > 1 { // the first look is before the start of the engine, the second after it
			once.Do(func() { require.NoError(t, os.Mkdir(inTheWay, 0o700)) })
		}
		return plenty, nil
	}})
	cfg := coordinator.Config{Dir: dir, Groups: 2}
	_, err := coordinator.Open(ctx, cfg)
	require.ErrorIs(t, err, syscall.EISDIR)
	require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
	require.DirExists(t, inTheWay)

	require.NoError(t, os.Remove(inTheWay))
	c, err := coordinator.Open(patient(t), cfg)
	require.NoError(t, err)
	require.NoError(t, c.WaitReady(patient(t)))
	require.NoError(t, c.Close())
}
