package drivertest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes the test binary one of the processes of a test: its value
// is the name of the part, and a line of JSON on standard input has the rest.
const childVariable = "SQLFENCE_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		if err := parts[name](); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
