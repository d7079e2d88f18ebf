package coordinator_test

import (
	"errors"
	"iter"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/identity"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/statemachine"
	"github.com/palisade-go/palisade/statemachine/pebblestore"
)

// stored returns the states of all groups as a stopped node has them on disk.
func stored(t *testing.T, n *locktest.Node) []string {
	t.Helper()
	return storedIn(t, n.Dir(), n.Number(), locktest.Groups)
}

func storedIn(t *testing.T, dir string, number, groups int) []string {
	t.Helper()
	store, err := pebblestore.Open(filepath.Join(dir, identity.MachinesDir), pebblestore.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	var dumps []string
	for group := statemachine.GroupID(1); group <= statemachine.GroupID(groups); group++ {
		image, err := store.Image(uint64(group), uint64(number))
		require.NoError(t, err)
		machine, err := statemachine.Load(statemachine.Genesis{Group: group}, recordsOf(t, image))
		require.NoError(t, err)
		var dump strings.Builder
		require.NoError(t, machine.Dump(&dump))
		dumps = append(dumps, dump.String())
	}
	return dumps
}

func recordsOf(t *testing.T, image *pebblestore.Image) iter.Seq2[[]byte, []byte] {
	enough := errors.New("enough")
	return func(yield func(key, value []byte) bool) {
		err := image.Each(func(key, value []byte) error {
			if !yield(key, value) {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			require.NoError(t, err)
		}
	}
}

// renewals is what of a dump is moved by a renewal.
var renewals = regexp.MustCompile(`(?m)^(meta .*) applied=\d+|^(presence .*) last=\d+(.*) wall=\d+$`)

// withoutRenewals returns a dump without what goes on while nothing happens.
func withoutRenewals(dump string) string { return renewals.ReplaceAllString(dump, "$1$2$3") }
