package transport_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func TestTLS(t *testing.T) {
	files := transport.TLS{CAFile: "ca", CertFile: "cert", KeyFile: "key"}
	insecureWithFile := transport.Insecure
	insecureWithFile.CAFile = "ca"
	for _, c := range []struct {
		statement string
		tls       transport.TLS
		insecure  bool
		wrong     string
	}{
		{"ItsZeroValueIsNothing", transport.TLS{}, false, "TLS is not set: name CAFile, CertFile and KeyFile, or say transport.Insecure"},
		{"InsecureIsAChoice", transport.Insecure, true, ""},
		{"AllFilesAreAChoice", files, false, ""},
		{"SomeFilesAreNone", transport.TLS{CertFile: "cert"}, false, "TLS lacks CAFile and KeyFile"},
		{"InsecureTakesNoFiles", insecureWithFile, false, "TLS is Insecure and names files"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			require.Equal(t, c.insecure, c.tls.IsInsecure())
			err := c.tls.Validate()
			if c.wrong == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.wrong)
		})
	}
}

func TestNodeURI(t *testing.T) {
	for _, cluster := range []string{"billing", "Billing-2_eu", "a.b", "7"} {
		uri, err := transport.NodeURI(cluster, 3)
		require.NoError(t, err)
		require.Equal(t, "palisade://"+cluster+"/3", uri)
	}
	for _, cluster := range []string{"", ".", "a..b", "a.", "two words", "a/b", "a@b", "a:1", "ü", "a%20",
		"x2345678901234567890123456789012345678901234567890123456789012345"} {
		_, err := transport.NodeURI(cluster, 3)
		require.ErrorIs(t, err, transport.ErrInvalid, "%q", cluster)
	}
	_, err := transport.NodeURI("billing", 0)
	require.ErrorIs(t, err, transport.ErrInvalid)
}
