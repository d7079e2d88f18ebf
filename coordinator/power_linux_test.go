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
	losePower(t, 1, 36, everyone)
}

// All of three nodes lose power at the same moment.
func TestPowerLossOfAllNodes(t *testing.T) {
	t.Parallel()
	losePower(t, 3, 6, everyone)
}

// One of three nodes loses power, and what the others wrote is there.
func TestPowerLossOfOneNode(t *testing.T) {
	t.Parallel()
	losePower(t, 3, 6, 2)
}

// everyone loses power.
const everyone = 0

// losePower sends an errand of size nodes, and lets the victim lose power at the
// moments that leave something else than those before, or at about as many as
// samples. What is left then is drawn, or each in turn.
func losePower(t *testing.T, size, samples, victim int) {
	t.Helper()
	random := diskRandom(t)
	r := sendErrand(t, size, kerneltest.Fault{})
	require.NoError(t, r.ended, "%s", r.said)
	every := 1
	if !*diskAll {
		every = 1 + len(r.journal)/samples
	}
	image, done, turns, lost := kerneltest.NewImage(), newDone(), -1, 0
	next := random.IntN(every)
	for i, o := range r.journal {
		require.NoError(t, image.Apply(o), "operation %d", i)
		done.note(t, o)
		if next--; next >= 0 || o.Kind != kerneltest.Note && image.Turns() == turns {
			continue
		}
		next, turns = every-1, image.Turns()
		losses := []kerneltest.Left{kerneltest.Synced, kerneltest.First, kerneltest.Scattered}
		if !*diskAll {
			i := random.IntN(len(losses))
			losses = losses[i : i+1]
		}
		for _, loss := range losses {
			dir := t.TempDir()
			root := func(number int) string { return filepath.Join(dir, fmt.Sprint(number)) }
			for number := 1; number <= size; number++ {
				left := kerneltest.All
				if victim == everyone || victim == number {
					left = loss
				}
				require.NoError(t, image.Leave(root(number), left, random))
			}
			done.kept(t, size, root, fmt.Sprintf("after operation %d, %v, with %v", i, o, loss))
			require.NoError(t, os.RemoveAll(dir))
			lost++
		}
	}
	require.Greater(t, lost, samples/4)
	t.Logf("power was lost %d times in %d operations", lost, len(r.journal))
}
