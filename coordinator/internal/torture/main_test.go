package torture

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// nodeVariable makes the test binary a node instead of running tests.
const nodeVariable = "PALISADE_TORTURE_NODE"

// TestMain is also where the test binary becomes one node of the fleet.
func TestMain(m *testing.M) {
	if os.Getenv(nodeVariable) != "" {
		os.Exit(runNode())
	}
	goleak.VerifyTestMain(m)
}
