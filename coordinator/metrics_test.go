package coordinator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/statemachine"
)

func TestHistogramBucketsDouble(t *testing.T) {
	var h histogram
	for _, d := range []time.Duration{-1, 0, time.Microsecond - 1, time.Microsecond, 2 * time.Microsecond, 3 * time.Microsecond, time.Millisecond, 100 * time.Hour} {
		h.observe(d)
	}
	r := h.read()
	require.Equal(t, uint64(8), r.Count())
	require.Equal(t, uint64(3), r.Counts[0], "below 1 µs")
	require.Equal(t, uint64(1), r.Counts[1], "1 µs")
	require.Equal(t, uint64(2), r.Counts[2], "2 and 3 µs")
	require.Equal(t, uint64(1), r.Counts[10], "1 ms is below 2^10 µs")
	require.Equal(t, uint64(1), r.Counts[histogramBuckets-1], "the last takes the rest")
}

func TestEveryRefusalAndLossIsCountedOnce(t *testing.T) {
	m := &metrics{}
	for reason := statemachine.RefusedBusy; reason <= statemachine.RefusedExhausted; reason++ {
		m.refused(reason)
	}
	for reason := hub.LostWindow; reason <= hub.LostUnknown; reason++ {
		m.lost(reason)
	}
	require.Equal(t, []uint64{1, 1, 3}, []uint64{m.refusedBusy.Load(), m.refusedQueue.Load(), m.refusedOth.Load()})
	require.Equal(t, []uint64{1, 1, 3}, []uint64{m.lostWindow.Load(), m.lostLimit.Load(), m.lostGroup.Load()})
}
