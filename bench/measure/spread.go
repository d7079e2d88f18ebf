package measure

import (
	"math"
	"slices"
)

func ceil(f float64) float64 { return math.Ceil(f - 1e-9) } // 0.99*100 is not 100

// Spread is a number as it came out in several rounds.
type Spread struct {
	Median float64 `json:"median"`
	Least  float64 `json:"least"`
	Most   float64 `json:"most"`
	Rounds int     `json:"rounds"`
}

// SpreadOf returns the median and the bounds of some values; of an even number
// the median is between the two in the middle. Of none it is the zero value.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = (sorted[middle-1] + sorted[middle]) / 2
	}
	return Spread{Median: median, Least: sorted[0], Most: sorted[len(sorted)-1], Rounds: len(sorted)}
}

// RatioOf returns the spread of a/b, round by round: rounds that one of the two
// does not have are left out, and so are those in which b is 0. What slows a
// whole round down does not move its ratio.
func RatioOf(a, b map[int]float64) Spread {
	var ratios []float64
	for round, value := range a {
		if base := b[round]; base != 0 {
			ratios = append(ratios, value/base)
		}
	}
	return SpreadOf(ratios)
}
