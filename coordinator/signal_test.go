package coordinator

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/hub"
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

// Who learns of an end by a channel finds everything else as it is after the end.
func TestAChannelIsClosedAfterTheRest(t *testing.T) {
	const rounds = 100_000 / sample
	c := openSingle(t)
	// meet has a caller who has nothing but a channel ask at the moment when end
	// closes it.
	meet := func(ch <-chan struct{}, end, ask func()) {
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			for !isClosed(ch) {
			}
			ask()
		}()
		end()
		<-asked
	}
	t.Run("TheContextOfALease", func(t *testing.T) {
		missed := 0
		for range rounds {
			o := c.newOwnership(&request{values: context.Background(), keys: []string{"key"}, ttl: time.Hour})
			ctx := o.context()
			meet(o.ended(), func() { o.lose(hub.LostWindow) }, func() {
				if context.Cause(ctx) == nil {
					missed++
				}
			})
		}
		require.Zero(t, missed)
	})
	t.Run("TheRoomForTheNextRequest", func(t *testing.T) {
		missed := 0
		for range rounds {
			o := c.newOwnership(&request{values: context.Background(), keys: []string{"key"}, ttl: time.Hour})
			require.NoError(t, c.remember(o))
			meet(o.vanished(), func() { o.abandon(Unknown, ErrClosed) }, func() {
				if c.openRequests() > 0 {
					missed++
				}
			})
		}
		require.Zero(t, missed)
	})
}
