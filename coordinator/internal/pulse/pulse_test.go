package pulse

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestATurnCountsFromItsBeginning(t *testing.T) {
	var p Pulse
	_, busy := p.Since()
	require.False(t, busy, "a loop that has not begun is at rest")
	for range 3 {
		before := time.Now()
		p.Begin()
		after := time.Now()
		since, busy := p.Since()
		require.True(t, busy)
		require.False(t, since.Before(before) || since.After(after), "%v, not in %v to %v", since, before, after)
		again, _ := p.Since()
		require.Equal(t, since, again, "asking does not move it")
		p.End()
		_, busy = p.Since()
		require.False(t, busy, "between turns")
	}
}

func BenchmarkTurn(b *testing.B) {
	var p Pulse
	for range b.N {
		p.Begin()
		p.End()
	}
}
