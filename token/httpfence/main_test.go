package httpfence_test

import (
	"io"
	"log"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// silent takes what a server has to say about panics that tests make.
var silent = log.New(io.Discard, "", 0)
