package dashboard

import (
	"cmp"
	"slices"
	"time"
)

const (
	// sketchCounters is how many keys a sketch counts. What it says of a key is
	// too much by the sum of all divided by this at most.
	sketchCounters = 128
	// heatHalf is half of the time that hot keys are of.
	heatHalf = 10 * time.Minute
)

// sketch finds the keys with the greatest sums of something, among any number of
// keys, with a fixed number of counters: the Space-Saving algorithm, Metwally,
// Agrawal and El Abbadi, "Efficient Computation of Frequent and Top-k Elements in
// Data Streams", 2005. Each key whose sum is above that of all divided by the
// number of counters is among them.
type sketch struct{ counters map[string]*counter }

// counter is the sum of a key: at least sum-excess, at most sum.
type counter struct{ sum, excess time.Duration }

func (s *sketch) add(key string, d time.Duration) {
	if c := s.counters[key]; c != nil {
		c.sum += d
		return
	}
	if len(s.counters) < sketchCounters {
		s.counters[key] = &counter{sum: d}
		return
	}
	var least string
	var c *counter
	for k, other := range s.counters {
		if c == nil || other.sum < c.sum {
			least, c = k, other
		}
	}
	delete(s.counters, least)
	s.counters[key] = &counter{sum: c.sum + d, excess: c.sum}
}

// heat finds the keys that were waited for most in the last while, which is between
// one and two heatHalf.
type heat struct {
	began        time.Time // of now
	now, earlier sketch
}

func newSketch() sketch { return sketch{make(map[string]*counter)} }

func newHeat() heat { return heat{now: newSketch(), earlier: newSketch()} }

// turn begins another half, if it is time.
func (h *heat) turn(at time.Time) {
	switch age := at.Sub(h.began); {
	case age >= 0 && age < heatHalf:
		return
	case age >= heatHalf && age < 2*heatHalf:
		h.earlier = h.now
	default: // nothing for a long time, or a wall clock that went back
		h.earlier = newSketch()
	}
	h.began, h.now = at, newSketch()
}

func (h *heat) add(at time.Time, key string, d time.Duration) {
	h.turn(at)
	h.now.add(key, d)
}

// hottest returns the n keys that were waited for most.
func (h *heat) hottest(at time.Time, n int) []HotKey {
	h.turn(at)
	sums := map[string]counter{}
	for _, s := range []sketch{h.now, h.earlier} {
		for key, c := range s.counters {
			sum := sums[key]
			sums[key] = counter{sum.sum + c.sum, sum.excess + c.excess}
		}
	}
	keys := make([]HotKey, 0, len(sums))
	for key, c := range sums {
		keys = append(keys, HotKey{Key: key, Waited: seconds(c.sum), Excess: seconds(c.excess)})
	}
	slices.SortFunc(keys, func(a, b HotKey) int {
		return cmp.Or(cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Key, b.Key))
	})
	return keys[:min(n, len(keys))]
}
