package coordinator

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

// Histogram counts durations in buckets that double: Counts[i] is how many
// were below 2^i microseconds and not below half of that; the last bucket
// takes the rest.
type Histogram struct {
	Counts [histogramBuckets]uint64
	Sum    time.Duration
}

// histogramBuckets reaches to 2^37 µs, about 38 hours.
const histogramBuckets = 38

// Count returns how many durations were counted.
func (h Histogram) Count() uint64 {
	n := uint64(0)
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// histogram is a Histogram that several goroutines may add to.
type histogram struct {
	counts [histogramBuckets]atomic.Uint64
	sum    atomic.Int64
}

func (h *histogram) observe(d time.Duration) {
	d = max(d, 0)
	h.counts[min(bits.Len64(uint64(d/time.Microsecond)), histogramBuckets-1)].Add(1)
	h.sum.Add(int64(d))
}

func (h *histogram) read() Histogram {
	out := Histogram{Sum: time.Duration(h.sum.Load())}
	for i := range h.counts {
		out.Counts[i] = h.counts[i].Load()
	}
	return out
}

// metrics are the counters of a node, counted where things happen and read
// by Status.
type metrics struct {
	acquired, busy, queueFull, timeouts, cancelled, unavailable, otherFailures atomic.Uint64

	waits, holds histogram

	batches, retries, renewFailures       atomic.Uint64
	leaderChanges                         atomic.Uint64
	expiries                              atomic.Uint64
	lostWindow, lostLimit, lostGroup      atomic.Uint64
	refusedBusy, refusedQueue, refusedOth atomic.Uint64
}

// waited counts the end of an acquire.
func (m *metrics) waited(d time.Duration, err error) {
	m.waits.observe(d)
	switch waitEndOf(err) {
	case WaitAcquired:
		m.acquired.Add(1)
	case WaitBusy:
		m.busy.Add(1)
	case WaitQueueFull:
		m.queueFull.Add(1)
	case WaitUnavailable:
		m.unavailable.Add(1)
	case WaitTimeout:
		m.timeouts.Add(1)
	case WaitCancelled:
		m.cancelled.Add(1)
	default:
		m.otherFailures.Add(1)
	}
}

func (m *metrics) sent(e hub.Send) {
	if e.Attempt == 1 {
		m.batches.Add(1)
	} else {
		m.retries.Add(1)
	}
}

func (m *metrics) lost(reason hub.LossReason) {
	switch reason {
	case hub.LostWindow:
		m.lostWindow.Add(1)
	case hub.LostLimit:
		m.lostLimit.Add(1)
	default:
		m.lostGroup.Add(1)
	}
}

func (m *metrics) refused(reason statemachine.RefuseReason) {
	switch reason {
	case statemachine.RefusedBusy:
		m.refusedBusy.Add(1)
	case statemachine.RefusedQueueFull:
		m.refusedQueue.Add(1)
	default:
		m.refusedOth.Add(1)
	}
}
