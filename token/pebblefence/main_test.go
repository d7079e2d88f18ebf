package pebblefence

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(faultChildEnv) != "" {
		os.Exit(m.Run()) // a child that is to crash; see fault_test.go
	}
	goleak.VerifyTestMain(m)
}
