package objectfence

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(child(os.Getenv(childEnv))) // see child_test.go
	}
	goleak.VerifyTestMain(m)
}
