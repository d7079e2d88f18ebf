package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuantilesAreRoundedUpToAPowerOfTwo(t *testing.T) {
	for _, d := range []time.Duration{0, 1, waitUnit, waitUnit + 1, time.Millisecond, time.Second, time.Hour, 36 * time.Hour} {
		m := &minute{}
		m.wait(d)
		got := m.quantile(0.5)
		require.GreaterOrEqual(t, got, d)
		require.Less(t, got, max(2*d, waitUnit+1))
	}
	m := &minute{}
	require.Zero(t, m.quantile(0.5))
	for range 99 {
		m.wait(waitUnit)
	}
	m.wait(time.Second)
	require.Equal(t, waitUnit, m.quantile(0.5))
	require.Equal(t, waitUnit, m.quantile(0.99))
	m.wait(time.Second)
	require.Greater(t, m.quantile(0.99), time.Second)
	m.wait(1 << 62)
	require.Equal(t, 1, m.waits[waitBuckets-1], "what is longer than all is in the last")
}

func TestTheTrendForgetsAfterAnHour(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 30, 30, 0, time.UTC)
	tr := &trend{}
	tr.of(now).losses = 1
	tr.of(now.Add(-59 * time.Minute)).losses = 2
	tr.of(now.Add(-60 * time.Minute)).losses = 3 // which takes the place of the first
	view := tr.view(now)
	require.Len(t, view, trendMinutes)
	require.Equal(t, 2, view[0].Losses)
	require.Zero(t, view[59].Losses)
	require.Equal(t, now.Truncate(time.Minute), view[59].At)
	tr.of(now).losses = 1
	require.Equal(t, 1, tr.view(now)[59].Losses)
	for _, m := range tr.view(now.Add(2 * time.Hour)) {
		require.Zero(t, m.Losses)
	}
}
