package objectfence

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token/fencetest"
)

func TestRulesOfAllGuards(t *testing.T) {
	run := func(t *testing.T, steps int, open func(t *testing.T) (reopen func() Store)) {
		guard := func(t *testing.T, reopen func() Store) fencetest.Guard {
			g, err := New(Config{Store: reopen(), OperationsMax: OperationsLimit})
			require.NoError(t, err)
			return notes{g, reopen}
		}
		fencetest.Run(t, fencetest.Traits{
			Steps:  steps,
			Reopen: func(t *testing.T, g fencetest.Guard) fencetest.Guard { return guard(t, g.(notes).reopen) },
		}, func(t *testing.T) fencetest.Guard { return guard(t, open(t)) })
	}
	t.Run("InMemory", func(t *testing.T) {
		run(t, 2*fencetest.StepsMin, func(*testing.T) func() Store {
			store := newMemStore()
			return func() Store { return store }
		})
	})
	t.Run("OverHTTP", func(t *testing.T) {
		run(t, fencetest.StepsMin, func(t *testing.T) func() Store {
			_, store := newServer(t)
			return func() Store { return store }
		})
	})
	// That files are synced is for TestEveryStepOfAPutIfFails; without, the suite
	// takes seconds.
	t.Run("InFiles", func(t *testing.T) {
		run(t, fencetest.StepsMin, func(t *testing.T) func() Store {
			dir := t.TempDir()
			return func() Store {
				store, err := OpenFileStore(dir)
				require.NoError(t, err)
				store.disk = unsynced{store.disk}
				return store
			}
		})
	})
}

// unsynced is a disk that has all the time in the world.
type unsynced struct{ disk }

func (unsynced) sync(string) error { return nil }
func (unsynced) syncNames() error  { return nil }
