package fencetest_test

import (
	"testing"

	"github.com/palisade-go/palisade/token/fencetest"
)

func TestTokenGuardKeepsTheRules(t *testing.T) {
	traits := fencetest.TraitsOfRun()
	traits.NoOperations, traits.KeepsFenceOfFailedWrite = true, true
	fencetest.Run(t, traits, func(*testing.T) fencetest.Guard {
		return &memory{lists: make(map[string][]string)}
	})
}
