package raftlog

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// history is a list of operations and what there is after each.
type history struct {
	ops   []operation
	ids   []replicaID
	after []string // dumps of the model: after[n] is the one after n operations
}

// newHistory is the same for the same rng. Some of its commands are large, so
// that memtables and logs rotate.
func newHistory(rng *rand.Rand, operations, largest int) history {
	a := newAuthor(rng)
	a.largest = largest
	return writeHistory(a, operations)
}

func writeHistory(a *author, operations int) history {
	h := history{ids: a.ids, after: []string{a.model.dump()}}
	for range operations {
		h.ops = append(h.ops, a.next())
		h.after = append(h.after, a.model.dump())
	}
	return h
}

// find returns after how many operations, from low to high, there was what the
// store has.
func (h history) find(t *testing.T, s *Store, low, high int, at string) int {
	t.Helper()
	got, err := dump(s, h.ids)
	require.NoError(t, err, at)
	for n := high; n >= low; n-- {
		if h.after[n] == got {
			return n
		}
	}
	if n := slices.Index(h.after, got); n >= 0 {
		require.Failf(t, "not an allowed prefix", "%s: there is what there was after %d operations, want %d to %d", at, n, low, high)
	}
	require.Equal(t, h.after[low], got, "%s: what there is is no prefix of the operations; the last that is acknowledged is %d, the last begun %d", at, low, high)
	return 0
}
