package coordinator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
)

// Manifests of deployments rely on these numbers: a grace period that was long
// enough must stay so.
func TestCloseMaxIsThatOfTheComments(t *testing.T) {
	require.Equal(t, 2, leaveElections)
	require.Equal(t, 1, moveElections)
	require.Equal(t, 30*time.Second, raftnode.CloseMax)
	require.Equal(t, 33*time.Second, Config{Peers: three()}.CloseMax())
	require.Equal(t, 30*time.Second+300*time.Millisecond, Config{}.CloseMax(), "a single node")
	require.Equal(t, time.Minute, Config{Peers: three(), ElectionTimeout: 10 * time.Second}.CloseMax())
}
