package fencetest

import "flag"

// The flags of these tests; users of the suite set Traits.
var (
	seedFlag      = flag.Uint64("fencetest.seed", 0, "what the random parts draw; 0: another seed each time")
	stepsFlag     = flag.Int("fencetest.steps", 0, "how many writes a random part makes; 0: the default")
	historiesFlag = flag.Int("fencetest.histories", 4000, "for how many histories every order is tried")
)

func traitsOfRun() Traits { return Traits{Seed: *seedFlag, Steps: *stepsFlag} }
