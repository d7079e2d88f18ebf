package dashboard

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// exact adds up without a bound, as a model of a sketch.
type exact map[string]time.Duration

func TestASketchIsOffByNoMoreThanItSays(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	s, model := newSketch(), exact{}
	var all time.Duration
	for range 100_000 {
		// Some keys are asked for often, most once.
		key := fmt.Sprint("rare ", rng.IntN(50_000))
		if rng.IntN(3) == 0 {
			key = fmt.Sprint("hot ", rng.IntN(20))
		}
		d := time.Duration(rng.IntN(1000))
		s.add(key, d)
		model[key] += d
		all += d
	}
	require.Len(t, s.counters, sketchCounters)
	for key, c := range s.counters {
		require.LessOrEqual(t, c.sum-c.excess, model[key], key)
		require.GreaterOrEqual(t, c.sum, model[key], key)
		require.LessOrEqual(t, c.excess, all/sketchCounters, key)
	}
	for key, sum := range model {
		if sum > all/sketchCounters {
			require.Contains(t, s.counters, key)
		}
	}
	for i := range 20 {
		require.Contains(t, s.counters, fmt.Sprint("hot ", i))
	}
}

func TestASketchOfFewKeysIsExact(t *testing.T) {
	s := newSketch()
	for i := range sketchCounters {
		for range i {
			s.add(fmt.Sprint(i), time.Second)
		}
	}
	for i := 1; i < sketchCounters; i++ {
		require.Equal(t, &counter{sum: time.Duration(i) * time.Second}, s.counters[fmt.Sprint(i)])
	}
}

func TestHeatFades(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := newHeat()
	h.add(start, "a", 2*time.Second)
	h.add(start, "b", time.Second)
	at := func(after time.Duration) (keys []string) {
		for _, k := range h.hottest(start.Add(after), 10) {
			keys = append(keys, fmt.Sprintf("%s %v", k.Key, k.Waited))
		}
		return keys
	}
	require.Equal(t, []string{"a 2", "b 1"}, at(0))
	require.Equal(t, []string{"a 2"}, at(0)[:len(h.hottest(start, 1))])
	h.add(start.Add(heatHalf), "b", 4*time.Second)
	require.Equal(t, []string{"b 5", "a 2"}, at(heatHalf))
	require.Equal(t, []string{"b 4"}, at(2*heatHalf))
	require.Empty(t, at(4*heatHalf))
	h.add(start.Add(4*heatHalf), "c", time.Second)
	h.add(start, "d", time.Second) // the wall clock went back
	require.Equal(t, []string{"d 1"}, at(0))
}
