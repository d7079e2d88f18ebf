package coordinator

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func TestAnAddressHasOneSpelling(t *testing.T) {
	for text, spelling := range map[string]string{
		"a.example:7400":              "a.example:7400",
		"A.Example.:07400":            "a.example:7400",
		"192.0.2.7:1":                 "192.0.2.7:1",
		"[::FFFF:192.0.2.7]:1":        "192.0.2.7:1",
		"[::ffff:c000:207]:1":         "192.0.2.7:1",
		"[0:0:0:0:0:0:0:1]:65535":     "[::1]:65535",
		"[fe80:0::1%eth0]:7400":       "[fe80::1%eth0]:7400",
		":7400":                       ":7400",
		"192.0.2.007:7400":            "192.0.2.007:7400", // to a name service: no IP address
		"app-0.app.prod.svc.local:80": "app-0.app.prod.svc.local:80",
	} {
		a, err := parseAddress(text)
		require.NoError(t, err, text)
		require.Equal(t, spelling, a.String(), text)
	}
}

func TestAddressesOfDifferentNodes(t *testing.T) {
	for _, pair := range [][2]string{
		{"a.example:7400", "a.example:7401"},
		{"localhost:7400", "127.0.0.1:7400"}, // names are not looked up
		{"[fe80::1%eth0]:7400", "[fe80::1%eth1]:7400"},
		{"a.example:7400", "a.example.org:7400"},
		{"a..:7400", "a:7400"},
		{"[::1]:7400", "127.0.0.1:7400"},
	} {
		c := Config{Dir: "d", Cluster: "billing", NodeID: 1, Peers: three(), TLS: transport.Insecure}.withDefaults()
		c.Peers[1], c.Peers[2], c.Peers[3] = "x.example:7400", pair[0], pair[1]
		require.NoError(t, c.validate(), "%q", pair)
	}
}
