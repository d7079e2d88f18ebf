package sim

import "slices"

// shrink returns what can be left out of a plan so that it still fails: no
// more of the rest can be left out alone, unless goOn said before that it is
// enough. It halves what is left out at a time, and begins with half (delta
// debugging).
func shrink(numbers []int, goOn func() bool, fails func(without []int) bool) (without []int) {
	kept := numbers
	for size := (len(kept) + 1) / 2; len(kept) > 0; {
		shrunk := false
		for from := 0; from < len(kept); {
			if !goOn() {
				return without
			}
			to := min(from+size, len(kept))
			trial := slices.Sorted(slices.Values(append(slices.Clone(without), kept[from:to]...)))
			if fails(trial) {
				without, shrunk = trial, true
				kept = slices.Delete(slices.Clone(kept), from, to)
				continue // the next ones have moved to from
			}
			from = to
		}
		if size == 1 && !shrunk {
			break
		}
		size = max(size/2, 1)
	}
	return without
}

// smallest runs the world of a failure again and again, each time without
// some of its plan, and returns the failure with the least that is left, and
// that rest. change prepares each world.
func smallest(f *failure, s setting, goOn func() bool, change func(*world)) (*failure, plan) {
	all := drawPlan(f.seed, s)
	least := f
	shrink(all.without(f.without).numbers(), goOn, func(without []int) bool {
		w := newWorld(f.seed, s, slices.Sorted(slices.Values(append(slices.Clone(f.without), without...))))
		change(w)
		again := w.run()
		if again == nil || again.kind != f.kind {
			return false
		}
		least = again
		return true
	})
	return least, all.without(least.without)
}
