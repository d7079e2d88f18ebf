package fencetest

import (
	"flag"
	"testing"
	"time"
)

// The flags of these tests. Users of the suite set Traits.
var (
	seedFlag      = flag.Uint64("fencetest.seed", 0, "what the random parts draw; 0: another seed each time")
	stepsFlag     = flag.Int("fencetest.steps", 0, "how many writes a random part makes; 0: the default")
	historiesFlag = flag.Int("fencetest.histories", 1000, "for how many histories every order is tried")
)

// TraitsOfRun are the traits with what the flags say.
func TraitsOfRun() Traits { return Traits{Seed: *seedFlag, Steps: *stepsFlag} }

// seedOfRun returns the seed that the flag says, or a new one, and logs it.
func seedOfRun(t *testing.T) uint64 {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("to draw the same again: go test ./token/fencetest -run %s -fencetest.seed %d", t.Name(), seed)
	return seed
}
