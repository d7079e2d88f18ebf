package clock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSystemNeverGoesBack(t *testing.T) {
	last := System{}.Now()
	for range 10_000 {
		now := System{}.Now()
		require.GreaterOrEqual(t, now, last)
		last = now
	}
}

func TestInstantArithmetic(t *testing.T) {
	i := Instant(5 * time.Second)
	require.Equal(t, i, i.Add(time.Second).Add(-time.Second))
	require.Equal(t, 2*time.Second, i.Add(2*time.Second).Sub(i))
}
