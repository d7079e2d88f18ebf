package coordinator

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func three() map[NodeID]string {
	return map[NodeID]string{1: "a.example:7400", 2: "b.example:7400", 3: "c.example:7400"}
}

func TestConfigDefaultsAreThoseOfTheComments(t *testing.T) {
	single := Config{Dir: "d"}.withDefaults()
	require.NoError(t, single.validate())
	require.Equal(t, NodeID(1), single.NodeID)
	require.Len(t, single.Peers, 1)
	require.Equal(t, 100*time.Millisecond, single.ElectionTimeout)

	c := Config{Dir: "d", Cluster: "billing", NodeID: 2, Peers: three(), TLS: transport.Insecure}.withDefaults()
	require.NoError(t, c.validate())
	require.Equal(t, time.Second, c.ElectionTimeout)
	require.Equal(t, 15*time.Second, c.TTL)
	require.Equal(t, 1, c.Groups)
	require.Equal(t, uint64(0), c.Epoch)
	require.Equal(t, ":7400", c.Listen)
	require.Equal(t, Limits{Keys: 64, Queue: 10_000, Requests: 1_000_000}, c.Limits)
	require.NotNil(t, c.Logger)
	require.Equal(t, transport.TLS{}, single.TLS, "a single node has no network")
}

func TestConfigEdgesAreAccepted(t *testing.T) {
	for _, c := range []Config{
		{ElectionTimeout: 100 * time.Millisecond, TTL: 400 * time.Millisecond},
		{ElectionTimeout: time.Minute, TTL: 24 * time.Hour},
		{Epoch: 1023, Groups: 256},
		{Groups: 1, Listen: "127.0.0.1:1"},
		{Listen: ":1"},
		{Limits: Limits{Keys: 128, Queue: 1, Requests: 1}},
		{Listen: "[::1]:7400"},
	} {
		c.Dir, c.Cluster, c.NodeID, c.Peers, c.TLS = "d", strings.Repeat("c", 64), 1, three(), transport.Insecure
		require.NoError(t, c.withDefaults().validate())
	}
}

func TestAWrongOwnAddressIsReportedOnce(t *testing.T) {
	c := Config{Dir: "d", Cluster: "x", NodeID: 1, Peers: three(), TLS: transport.Insecure}
	c.Peers[1] = "a.example:0"
	err := c.withDefaults().validate()
	require.ErrorContains(t, err, "Peers[1]")
	require.NotContains(t, err.Error(), "Listen")
}

func TestConfigIsNotChangedByOpen(t *testing.T) {
	peers := three()
	c := Config{Dir: "d", Cluster: "x", NodeID: 1, Peers: peers}.withDefaults()
	c.Peers[1] = "changed:1"
	require.Equal(t, "a.example:7400", peers[1])
}
