package sim

import (
	"fmt"
	"time"
)

// failure is what a world has found to be wrong.
type failure struct {
	seed    int64
	without []int  // the parts of the plan that were left out
	kind    string // the guarantee, or the check
	at      time.Duration
	text    string
}

// Error says what is wrong, when, and how to see it again.
func (f *failure) Error() string {
	return fmt.Sprintf("%s at %v: %s; replay with: %s", f.kind, f.at, f.text, f.replay())
}

// replay returns the command that runs into the failure again.
func (f *failure) replay() string {
	command := fmt.Sprintf("go test ./coordinator/internal/sim -run 'TestWorlds$' -v -seed %d", f.seed)
	if len(f.without) > 0 {
		command += " -without " + numbersText(f.without)
	}
	return command
}
