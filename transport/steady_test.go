package transport_test

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// A pipe has no buffer and no time limits of the system.
func TestSteadyWriter(t *testing.T) {
	t.Run("FailsWhenThePeerTakesNothing", func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		n, err := transport.NewSteadyWriter(near, 20*time.Millisecond).Write(make([]byte, 10))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Zero(t, n)
	})
	t.Run("SaysHowMuchThePeerTook", func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		go func() {
			if _, err := far.Read(make([]byte, 3)); err != nil {
				t.Error(err)
			}
		}()
		// The stall leaves a busy machine the time to begin to read.
		n, err := transport.NewSteadyWriter(near, 2*time.Second).Write(make([]byte, 10))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, 3, n)
	})
}
