package keeper

import (
	"cmp"
	"slices"
	"time"
)

// durations counts how often each of a few distinct durations is in use,
// shortest first.
type durations []counted

type counted struct {
	d time.Duration
	n int
}

// add changes the count of d by n and forgets a duration no longer in use.
func (ds *durations) add(d time.Duration, n int) {
	i, found := slices.BinarySearchFunc(*ds, d, func(c counted, d time.Duration) int { return cmp.Compare(c.d, d) })
	if !found {
		*ds = slices.Insert(*ds, i, counted{d: d})
	}
	(*ds)[i].n += n
	if (*ds)[i].n == 0 {
		*ds = slices.Delete(*ds, i, i+1)
	}
}

// shortest returns the shortest duration in use; 0: none.
func (ds durations) shortest() time.Duration {
	if len(ds) == 0 {
		return 0
	}
	return ds[0].d
}
