package measure_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/bench/measure"
)

// A quantile is the value of that rank among all, sorted, but for 1 %.
func TestQuantilesAreThoseOfTheSortedValues(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d: replay by setting it in this test", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []int{1, 2, 100, 1000, 12345} {
		var h measure.Histogram
		values := make([]time.Duration, n)
		sum := time.Duration(0)
		for i := range values {
			values[i] = time.Duration(math.Exp(random.Float64() * math.Log(float64(time.Minute))))
			h.Add(values[i])
			sum += values[i]
		}
		slices.Sort(values)
		for _, q := range []float64{0, 0.01, 0.5, 0.99, 0.999, 1} {
			rank := max(int(math.Ceil(q*float64(n)-1e-9)), 1)
			require.InEpsilon(t, float64(values[rank-1]), float64(h.Quantile(q)), 0.01, "n %d, quantile %v, seed %d", n, q, seed)
		}
		require.Equal(t, uint64(n), h.Count())
		require.Equal(t, sum/time.Duration(n), h.Mean())
	}
}

func TestOfAHundredTheP99IsThe99th(t *testing.T) {
	var h measure.Histogram
	for i := 1; i <= 100; i++ {
		h.Add(time.Duration(i) * time.Nanosecond) // below 64 ns each has a bucket of its own, above two share one
	}
	require.Equal(t, 50*time.Nanosecond, h.Quantile(0.5))
	require.InDelta(t, 99, float64(h.Quantile(0.99)), 1)
	require.InDelta(t, 100, float64(h.Quantile(1)), 1)
}

func TestAnEmptyHistogramIsAllZeros(t *testing.T) {
	var h measure.Histogram
	require.Zero(t, h.Quantile(0.5))
	require.Zero(t, h.Mean())
	require.Zero(t, h.Count())
}

func TestWhatIsMergedIsAsIfItHadBeenAdded(t *testing.T) {
	var all, a, b measure.Histogram
	for i := range 1000 {
		d := time.Duration(i*i) * time.Microsecond
		all.Add(d)
		if i%3 == 0 {
			a.Add(d)
		} else {
			b.Add(d)
		}
	}
	b.Merge(a)
	require.Equal(t, all, b)
}
