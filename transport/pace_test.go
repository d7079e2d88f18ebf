package transport_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func TestPace(t *testing.T) {
	require.Equal(t, 10*time.Second, transport.PaceLength)
	var pace transport.Pace
	begin := time.Unix(1000, 0)
	pass := func(sort string, after time.Duration) (int, bool) { return pace.Pass(sort, begin.Add(after)) }
	skipped, ok := pass("a", 0)
	require.True(t, ok, "the first at once")
	require.Zero(t, skipped)
	for range 3 {
		_, ok = pass("a", transport.PaceLength-1)
		require.False(t, ok)
	}
	_, ok = pass("b", 1)
	require.True(t, ok, "each sort by itself")
	skipped, ok = pass("a", transport.PaceLength)
	require.True(t, ok)
	require.Equal(t, 3, skipped)
	skipped, ok = pass("a", 2*transport.PaceLength)
	require.True(t, ok)
	require.Zero(t, skipped, "each is counted once")
}
