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
	require.Equal(t, 8, c.Groups)
	require.Equal(t, uint64(0), c.Epoch)
	require.Equal(t, ":7400", c.Listen)
	require.Equal(t, Limits{Keys: 64, Queue: 10_000, Requests: 1_000_000}, c.Limits)
	require.NotNil(t, c.Logger)
	require.Equal(t, transport.TLS{}, single.TLS, "a single node has no network")
}

func TestConfigProblemsAreAllNamed(t *testing.T) {
	good := func() Config {
		return Config{Dir: "d", Cluster: "billing", NodeID: 1, Peers: three(), TLS: transport.Insecure}
	}
	for _, c := range []struct {
		name   string
		change func(*Config)
		names  []string
	}{
		{"no directory", func(c *Config) { c.Dir = "" }, []string{"Dir is missing"}},
		{"no cluster", func(c *Config) { c.Cluster = "" }, []string{"Cluster is missing"}},
		{"long cluster", func(c *Config) { c.Cluster = strings.Repeat("c", 65) }, []string{"Cluster: ", "1 to 64 ASCII letters"}},
		{"odd cluster", func(c *Config) { c.Cluster = "billing\n" }, []string{`"billing\n" can't be in a certificate`}},
		{"no TLS", func(c *Config) { c.TLS = transport.TLS{} }, []string{"TLS is not set", "transport.Insecure"}},
		{"two peers", func(c *Config) { delete(c.Peers, 3) }, []string{"Peers has 2 members: must be 1, 3, 5 or 7"}},
		{"not a peer", func(c *Config) { c.NodeID = 9 }, []string{"NodeID 9 is not in Peers"}},
		{"node zero", func(c *Config) { c.Peers[0] = c.Peers[3]; delete(c.Peers, 3) }, []string{"Peers has a node 0"}},
		{"one address twice", func(c *Config) { c.Peers[3] = "A.example:7400" }, []string{"Peers[1] and Peers[3] have one address, a.example:7400"}},
		{"no port", func(c *Config) { c.Peers[2] = "b.example" }, []string{`Peers[2]: address "b.example"`}},
		{"no host", func(c *Config) { c.Peers[2] = ":7400" }, []string{`Peers[2]: address ":7400" has no host`}},
		{"port zero", func(c *Config) { c.Peers[2] = "b:0" }, []string{"the port must be 1 to 65535"}},
		{"port too high", func(c *Config) { c.Peers[2] = "b:65536" }, []string{"the port must be 1 to 65535"}},
		{"wrong listen", func(c *Config) { c.Listen = "nowhere" }, []string{"Listen:"}},
		{"quick elections", func(c *Config) { c.ElectionTimeout = 50 * time.Millisecond }, []string{"ElectionTimeout is 50ms: must be 100ms to 1m0s in steps of 50ms"}},
		{"slow elections", func(c *Config) { c.ElectionTimeout = 61 * time.Second; c.TTL = time.Hour }, []string{"ElectionTimeout is 1m1s"}},
		{"uneven elections", func(c *Config) { c.ElectionTimeout = 1001 * time.Millisecond }, []string{"ElectionTimeout is 1.001s"}},
		{"epoch too high", func(c *Config) { c.Epoch = 1024 }, []string{"Epoch is 1024: at most 1023"}},
		{"no groups", func(c *Config) { c.Groups = -1 }, []string{"Groups is -1: must be 1 to 256"}},
		{"too many groups", func(c *Config) { c.Groups = 257 }, []string{"Groups is 257"}},
		{"short ttl", func(c *Config) { c.TTL = 4*time.Second - 1 }, []string{"TTL is 3.999999999s: must be from 4 times ElectionTimeout, 4s, to 24h0m0s"}},
		{"long ttl", func(c *Config) { c.TTL = 24*time.Hour + 1 }, []string{"TTL is 24h0m0.000000001s"}},
		{"keys limit", func(c *Config) { c.Limits.Keys = 129 }, []string{"Limits.Keys is 129: must be 1 to 128"}},
		{"queue limit", func(c *Config) { c.Limits.Queue = -1 }, []string{"Limits.Queue is -1"}},
		{"requests limit", func(c *Config) { c.Limits.Requests = -1 }, []string{"Limits.Requests is -1"}},
		{"half of TLS", func(c *Config) { c.TLS = transport.TLS{CAFile: "ca.pem"} }, []string{"TLS lacks CertFile and KeyFile"}},
		{"TLS files missing", func(c *Config) {
			c.TLS = transport.TLS{CAFile: "no-ca.pem", CertFile: "no-cert.pem", KeyFile: "no-key.pem"}
		}, []string{"open no-ca.pem"}},
		{"TLS files of another kind", func(c *Config) {
			c.TLS = transport.TLS{CAFile: "config.go", CertFile: "config.go", KeyFile: "config.go"}
		}, []string{"CAFile: it has no certificate in PEM"}},
		{"listen without a network", func(c *Config) { c.Peers, c.Listen = nil, ":7400" }, []string{"Listen is :7400, but a single node has no network"}},
		{"several at once", func(c *Config) { c.Dir, c.Groups, c.Epoch = "", 999, 9999 }, []string{"Dir is missing", "Groups is 999", "Epoch is 9999"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := good()
			c.change(&cfg)
			err := cfg.withDefaults().validate()
			require.ErrorIs(t, err, ErrInvalid)
			for _, name := range c.names {
				require.ErrorContains(t, err, name)
			}
		})
	}
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
