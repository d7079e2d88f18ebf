package measure_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/bench/measure"
)

func TestSpreadIsTheMedianAndTheBounds(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   measure.Spread
	}{
		{"None", nil, measure.Spread{}},
		{"One", []float64{7}, measure.Spread{Median: 7, Least: 7, Most: 7, Rounds: 1}},
		{"OfTwoTheMedianIsBetween", []float64{4, 2}, measure.Spread{Median: 3, Least: 2, Most: 4, Rounds: 2}},
		{"OfThreeItIsTheMiddleOne", []float64{9, 1, 2}, measure.Spread{Median: 2, Least: 1, Most: 9, Rounds: 3}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, measure.SpreadOf(c.values)) })
	}
}

// All of round 2 is ten times slower, and the ratio does not see it. The median
// of a by the median of b would be 2/40.
func TestRatiosAreThoseOfTheSameRound(t *testing.T) {
	a := map[int]float64{1: 2, 2: 20, 3: 2, 4: 1}
	b := map[int]float64{1: 4, 2: 40, 3: 40, 5: 1, 4: 0}
	require.Equal(t, measure.Spread{Median: 0.5, Least: 0.05, Most: 0.5, Rounds: 3}, measure.RatioOf(a, b))
	require.Zero(t, measure.RatioOf(a, nil))
}
