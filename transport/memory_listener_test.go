package transport

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// refuser breaks every link that sends it something.
type refuser struct{}

func (refuser) Receive(Peer, Kind, []byte) error { return errors.New("no") }

// A node that dials again for years must not leave a trace of each link.
func TestLinksThatEndedAreForgotten(t *testing.T) {
	network := NewMemory(1)
	defer network.Close()
	listener, err := network.Listen("a", refuser{})
	require.NoError(t, err)
	for i := range 100 {
		link, err := network.Dial(context.Background(), "b", "a", Messages)
		require.NoError(t, err)
		if i%2 == 0 {
			require.NoError(t, link.Send([]byte("breaks")))
		} else {
			require.NoError(t, link.Close())
		}
	}
	held := func() int {
		network.mu.Lock()
		defer network.mu.Unlock()
		return len(listener.(*memoryListener).links)
	}
	require.Eventually(t, func() bool { return held() == 0 }, 30*time.Second, time.Millisecond)
}
