package objectfence

import "testing"

// NewMemStore and NewServedStore are the stores of this package's tests, for
// those of the suite, which imports the package.
func NewMemStore() Store { return newMemStore() }

// NewServedStore returns a store on a server of its own.
func NewServedStore(t *testing.T) Store {
	_, store := newServer(t)
	return store
}
