package coordinator_test

import (
	"context"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds every wait of the tests. It is far above what they need on a
// busy machine: a test that reaches it has failed.
const patience = time.Minute

// TestMain is also where the test binary becomes one node of a cluster of
// processes; see nodeProcess.
func TestMain(m *testing.M) {
	if os.Getenv(nodeProcessVariable) != "" {
		os.Exit(runNodeProcess())
	}
	goleak.VerifyTestMain(m)
}

// patient returns a context that ends with the test, and after patience.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}
