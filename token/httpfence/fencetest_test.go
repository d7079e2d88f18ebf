package httpfence_test

import (
	"testing"

	"github.com/palisade-go/palisade/token/fencetest"
	"github.com/palisade-go/palisade/token/httpfence"
	"github.com/palisade-go/palisade/token/httpfence/internal/storetest"
)

// TestMiddlewareKeepsTheRulesOfAllGuards is the whole way: Transport, TCP,
// Guard, a service that checks nothing. Package diskstore has the same with
// restarts.
func TestMiddlewareKeepsTheRulesOfAllGuards(t *testing.T) {
	traits := fencetest.Traits{KeepsFenceOfFailedWrite: true, Steps: 600} // each is a request
	fencetest.Run(t, traits, func(t *testing.T) fencetest.Guard {
		store := newMemory(t, httpfence.MemoryConfig{OperationsMax: 10 * fencetest.OperationsMax})
		return storetest.Serve(t, store, &storetest.Lists{})
	})
}
