package coordinator_test

import (
	"context"
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds every wait of the tests, and the whole of many of them. It is
// far above what they need on a busy machine: a test that reaches it has failed.
const patience = 3 * time.Minute

// TestMain is also where the test binary becomes one node of a cluster of
// processes; see nodeProcess.
func TestMain(m *testing.M) {
	if os.Getenv(nodeProcessVariable) != "" {
		os.Exit(runNodeProcess())
	}
	// Most tests wait for elections and expiries, so more of them run beside one
	// another than there are processors. The command line may say otherwise.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patient returns a context that ends with the test, and after patience.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}
