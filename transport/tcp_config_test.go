package transport_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func TestTCPConfig(t *testing.T) {
	require.Equal(t, 3*time.Second, transport.DefaultHandshake)
	require.Equal(t, 10*time.Second, transport.DefaultStall)
	files := transport.TLS{CAFile: "ca", CertFile: "cert", KeyFile: "key"}
	for _, c := range []struct {
		statement string
		change    func(cfg *transport.TCPConfig)
		wrong     []string
	}{
		{"TLSIsRequired", func(cfg *transport.TCPConfig) { cfg.TLS = transport.TLS{} },
			[]string{"TLS is not set: name CAFile, CertFile and KeyFile, or say transport.Insecure for plaintext"}},
		{"SelfIsRequired", func(cfg *transport.TCPConfig) { cfg.Self = transport.Hello{} },
			[]string{"Self: Cluster is all zero", "Node is zero", "Directory is all zero",
				"Incarnation is zero", "Start is all zero", "Protocol is 0 to 0"}},
		{"TheClusterNameIsRequiredWithTLS", func(cfg *transport.TCPConfig) { cfg.TLS = files },
			[]string{`ClusterName: transport: invalid: the cluster name "" can't be in a certificate`}},
		{"TheClusterNameMustFitIntoACertificate", func(cfg *transport.TCPConfig) { cfg.TLS, cfg.ClusterName = files, "a b" },
			[]string{`the cluster name "a b" can't be`}},
		{"TimesAreNotNegative", func(cfg *transport.TCPConfig) { cfg.Handshake, cfg.Stall = -1, -1 },
			[]string{"Handshake is -1ns: must be above zero", "Stall is -1ns: must be above zero"}},
		{"EveryProblemIsReported", func(cfg *transport.TCPConfig) { *cfg = transport.TCPConfig{Stall: -1} },
			[]string{"Self", "TLS is not set", "Stall"}},
	} {
		t.Run(c.statement, func(t *testing.T) {
			cfg := plain(1)
			c.change(&cfg)
			network, err := transport.NewTCP(cfg)
			require.ErrorIs(t, err, transport.ErrInvalid)
			for _, wrong := range c.wrong {
				require.ErrorContains(t, err, wrong)
			}
			require.Nil(t, network)
		})
	}
	t.Run("InsecureNeedsNoClusterNameAndIsLoggedOnce", func(t *testing.T) {
		cfg := plain(2)
		logger, log := newJournal()
		cfg.Logger = logger
		in := make(inbox, 1)
		network := newTCP(t, cfg)
		requireLink(t, network, serve(t, network, "127.0.0.1", in), in, "hello")
		require.Equal(t, 1, log.count("transport: the network is insecure: whoever reaches the port can read everything and be any node"))
	})
}
