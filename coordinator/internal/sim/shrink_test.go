package sim

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShrink(t *testing.T) {
	var all []int
	for i := range 200 {
		all = append(all, i+1)
	}
	rest := func(without []int) []int {
		return slices.DeleteFunc(slices.Clone(all), func(n int) bool { return slices.Contains(without, n) })
	}
	t.Run("LeavesWhatItTakesAndNothingElse", func(t *testing.T) {
		for _, needed := range [][]int{{}, {1}, {200}, {17, 18}, {3, 99, 180}, {5, 6, 7, 8, 9, 100}} {
			without := shrink(all, always, func(without []int) bool {
				require.True(t, slices.IsSorted(without))
				return !slices.ContainsFunc(needed, func(n int) bool { return slices.Contains(without, n) })
			})
			require.Equal(t, needed, append([]int{}, rest(without)...))
		}
	})
	t.Run("EndsWhenItIsEnough", func(t *testing.T) {
		tries := 0
		without := shrink(all, func() bool { return tries < 10 }, func([]int) bool { tries++; return tries == 1 })
		require.Equal(t, 10, tries)
		require.Equal(t, all[:100], without)
	})
	t.Run("LeavesNothingOutThatHides", func(t *testing.T) {
		require.Empty(t, shrink(all, always, func([]int) bool { return false }))
	})
}

func always() bool { return true }

// TestAFlawIsFoundAndShrunk: clocks that are off by more than is promised cost
// the guarantee, which is found within a few seeds. What is left of the plan
// fails in the same way, and no part of it can be left out.
func TestAFlawIsFoundAndShrunk(t *testing.T) {
	flaw := func(w *world) { w.clockError = 25 }
	for seed := int64(1); seed <= 60; seed++ {
		s := drawSetting(seed)
		if s.crowded() {
			continue // too large to be shrunk a dozen times
		}
		w := newWorld(seed, s, nil)
		flaw(w)
		f := w.run()
		if f == nil {
			continue
		}
		require.Equal(t, "G3", f.kind, "%v", f)
		least, rest := smallest(f, s, always, flaw)
		t.Logf("seed %d: %d parts, %d are left: %v\n%s", seed, len(w.plan), len(rest), least, planText(rest))
		require.Equal(t, f.kind, least.kind)
		require.Less(t, len(rest), len(w.plan)/4)
		for _, number := range rest.numbers() {
			fewer := newWorld(seed, s, append(slices.Clone(least.without), number))
			flaw(fewer)
			again := fewer.run()
			require.True(t, again == nil || again.kind != f.kind, "without %d it fails still", number)
		}
		right := newWorld(seed, s, least.without)
		require.Nil(t, right.run(), "without the flaw")
		return
	}
	require.Fail(t, "the flaw was not found")
}

func TestNumbers(t *testing.T) {
	for _, numbers := range [][]int{nil, {1}, {1, 2, 3}, {1, 3, 4, 5, 9}} {
		again, err := parseNumbers(numbersText(numbers))
		require.NoError(t, err)
		require.Equal(t, numbers, again)
	}
	require.Equal(t, "1,3-5,9", numbersText([]int{1, 3, 4, 5, 9}))
	for _, text := range []string{"x", "1-", "1,,2"} {
		_, err := parseNumbers(text)
		require.Error(t, err, text)
	}
}
