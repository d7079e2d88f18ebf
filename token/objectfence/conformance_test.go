package objectfence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token/objectfence"
	"github.com/palisade-go/palisade/token/objectfence/storetest"
)

func TestStoresKeepTheRules(t *testing.T) {
	t.Run("InFiles", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) objectfence.Store {
			store, err := objectfence.OpenFileStore(t.TempDir())
			require.NoError(t, err)
			return store
		})
	})
	t.Run("InMemory", func(t *testing.T) {
		storetest.Run(t, func(*testing.T) objectfence.Store { return objectfence.NewMemStore() })
	})
	t.Run("OverHTTP", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) objectfence.Store { return objectfence.NewServedStore(t) })
	})
}
