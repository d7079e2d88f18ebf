package coordinator_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode/disktest/kerneltest"
)

var (
	diskSeed = flag.Uint64("disk.seed", 0, "seed of the tests whose disk loses or fails; 0 takes the time")
	diskAll  = flag.Bool("disk.all", false, "lose power at every moment that leaves something else, and fail every operation, not a sample")
)

// diskRandom returns a source, and says how to draw the same again.
func diskRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *diskSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("replay with: go test ./coordinator -run '^%s$' -disk.seed=%d", t.Name(), seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A whole node on its own, with its identity, its log and its store, loses power
// at each of many moments, from the first Open on. It opens again, its
// incarnation rises, and no token is given out twice.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	random := diskRandom(t)
	r := sendErrand(t, kerneltest.Fault{})
	require.NoError(t, r.ended, "%s", r.said)
	// Half of the operations lie in the first Open, so each part gets its share.
	const samples = 60
	every := 1
	if !*diskAll {
		every = 1 + len(r.journal)/samples
	}
	image, done, turns, lost := kerneltest.NewImage(), done{}, -1, 0
	next := random.IntN(every)
	for i, o := range r.journal {
		require.NoError(t, image.Apply(o), "operation %d", i)
		done.note(t, o)
		if next--; next >= 0 || o.Kind != kerneltest.Note && image.Turns() == turns {
			continue
		}
		next, turns = every, image.Turns()
		lefts := []kerneltest.Left{kerneltest.Synced, kerneltest.First, kerneltest.Scattered}
		if !*diskAll {
			random.Shuffle(len(lefts), func(i, j int) { lefts[i], lefts[j] = lefts[j], lefts[i] })
			lefts = append([]kerneltest.Left{kerneltest.Synced}, lefts[:random.IntN(2)]...)
		}
		for _, left := range lefts {
			root := filepath.Join(t.TempDir(), "left")
			require.NoError(t, image.Leave(root, left, random))
			done.kept(t, root, fmt.Sprintf("after operation %d, %v, with %v", i, o, left))
			require.NoError(t, os.RemoveAll(root))
			lost++
		}
	}
	require.Greater(t, lost, samples/4)
	t.Logf("power was lost %d times in %d operations", lost, len(r.journal))
}
