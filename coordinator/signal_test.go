package coordinator

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestASignalIsGivenOnce(t *testing.T) {
	for name, asked := range map[string]bool{"AskedForBefore": true, "AskedForAfterwards": false} {
		t.Run(name, func(t *testing.T) {
			var s signal
			if asked {
				require.False(t, isClosed(s.channel()))
			}
			require.False(t, s.given())
			s.give()
			s.give()
			require.True(t, s.given())
			require.True(t, isClosed(s.channel()))
		})
	}
	t.Run("OneChannelForAll", func(t *testing.T) {
		var s signal
		require.Equal(t, s.channel(), s.channel())
	})
}

// What a caller asks for only after the lease has ended says so at once.
func TestWhatIsAskedForAfterTheEnd(t *testing.T) {
	c := openSingle(t)
	lease, err := c.Acquire(context.Background(), "key")
	require.NoError(t, err)
	require.NoError(t, lease.Release(context.Background()))
	require.True(t, isClosed(lease.Done()))
	require.True(t, isClosed(lease.Endangered()))
	require.ErrorIs(t, lease.Context().Err(), context.Canceled)
	require.ErrorIs(t, context.Cause(lease.Context()), ErrReleased)
	require.Equal(t, Released, lease.State())
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
