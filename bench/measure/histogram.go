package measure

import (
	"math/bits"
	"time"
)

// Each power of two is cut into this many buckets, so that a quantile is off by
// less than 1 % of itself.
const (
	bucketBits = 6
	buckets    = 1 << bucketBits
)

// Histogram counts durations. The zero value is empty. It is not safe for
// concurrent use: each worker has its own, and they are added in the end.
type Histogram struct {
	// Counts by bucket; those behind the last that is not zero may be missing.
	Counts []uint64
	Sum    time.Duration
}

// bucketOf returns the bucket of a duration: below 64 ns each has its own.
func bucketOf(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < buckets {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - bucketBits
	return (shift+1)*buckets + int(v>>shift) - buckets
}

// middleOf returns the middle of a bucket.
func middleOf(bucket int) time.Duration {
	if bucket < buckets {
		return time.Duration(bucket)
	}
	shift := bucket/buckets - 1
	low := uint64(bucket%buckets+buckets) << shift
	return time.Duration(low + uint64(1)<<shift/2)
}

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) {
	bucket := bucketOf(d)
	for len(h.Counts) <= bucket {
		h.Counts = append(h.Counts, 0)
	}
	h.Counts[bucket]++
	h.Sum += d
}

// Merge adds what another one has counted.
func (h *Histogram) Merge(other Histogram) {
	for len(h.Counts) < len(other.Counts) {
		h.Counts = append(h.Counts, 0)
	}
	for bucket, n := range other.Counts {
		h.Counts[bucket] += n
	}
	h.Sum += other.Sum
}

// Count returns how many durations were counted.
func (h *Histogram) Count() uint64 {
	n := uint64(0)
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Mean returns their mean, 0 when there are none.
func (h *Histogram) Mean() time.Duration {
	n := h.Count()
	if n == 0 {
		return 0
	}
	return h.Sum / time.Duration(n)
}

// Quantile returns the duration that the part q of all does not exceed, for q
// from 0 to 1; 0 when there are none. The rank is rounded up: of a hundred, the
// 0.99 quantile is the 99th.
func (h *Histogram) Quantile(q float64) time.Duration {
	n := h.Count()
	if n == 0 {
		return 0
	}
	rank := max(uint64(ceil(q*float64(n))), 1)
	seen := uint64(0)
	for bucket, c := range h.Counts {
		if seen += c; seen >= rank {
			return middleOf(bucket)
		}
	}
	return middleOf(len(h.Counts) - 1)
}
