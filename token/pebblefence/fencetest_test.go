package pebblefence

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token/fencetest"
)

func TestRulesOfAllGuards(t *testing.T) {
	open := func(t *testing.T, fs vfs.FS) fencetest.Guard {
		return notes{newGuard(t, openDB(t, fs)), fs}
	}
	fencetest.Run(t, fencetest.Traits{
		Reopen: func(t *testing.T, g fencetest.Guard) fencetest.Guard {
			old := g.(notes)
			require.NoError(t, old.store.db.Close())
			return open(t, old.fs)
		},
	}, func(t *testing.T) fencetest.Guard { return open(t, vfs.NewMem()) })
}
