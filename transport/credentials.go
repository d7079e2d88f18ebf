package transport

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// credentials are what the files of a TLS say, at one time. They don't change.
type credentials struct {
	pair  tls.Certificate
	roots *x509.CertPool
}

// parseCredentials checks the texts of the files as far as one node can: that
// they are whole, belong together, and name the node that self is the URI of.
func parseCredentials(ca, cert, key []byte, self string) (*credentials, error) {
	roots, err := parseRoots(ca)
	if err != nil {
		return nil, fmt.Errorf("CAFile: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("CertFile and KeyFile: %w", err)
	}
	if pair.Leaf, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
		return nil, fmt.Errorf("CertFile: %w", err)
	}
	if err := checkURI(pair.Leaf, self); err != nil {
		return nil, fmt.Errorf("CertFile: %w", err)
	}
	return &credentials{pair: pair, roots: roots}, nil
}

// parseRoots reads certificates in PEM. Unlike AppendCertsFromPEM it does not
// pass over what it can't read: half a file must not silently trust half.
func parseRoots(text []byte) (*x509.CertPool, error) {
	roots, found := x509.NewCertPool(), 0
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("it holds a %s, only certificates belong there", block.Type)
		}
		root, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		roots.AddCert(root)
		found++
		text = rest
	}
	switch {
	case bytes.Contains(text, []byte("-----BEGIN")):
		return nil, errors.New("the last certificate is cut off or damaged")
	case found == 0:
		return nil, errors.New("it has no certificate in PEM")
	}
	return roots, nil
}

// checkURI returns nil if the certificate names just the node that want is the
// URI of.
func checkURI(certificate *x509.Certificate, want string) error {
	var named []string
	for _, uri := range certificate.URIs {
		if strings.EqualFold(uri.Scheme, uriScheme) {
			named = append(named, uri.String())
		}
	}
	switch {
	case len(named) == 0:
		return fmt.Errorf("the certificate has no URI SAN of a node, it must be %s", want)
	case len(named) > 1:
		return fmt.Errorf("the certificate has %d URI SANs of nodes, it must be %s alone", len(named), want)
	case named[0] != want:
		return fmt.Errorf("the certificate is that of %s, it must be %s", named[0], want)
	}
	return nil
}

// equal says whether both lead to the same handshakes. A certificate has but
// one key.
func (c *credentials) equal(other *credentials) bool {
	return slices.EqualFunc(c.pair.Certificate, other.pair.Certificate, bytes.Equal) && c.roots.Equal(other.roots)
}

// expired says whether the certificate is out of its time.
func (c *credentials) expired(now time.Time) bool {
	return now.Before(c.pair.Leaf.NotBefore) || now.After(c.pair.Leaf.NotAfter)
}

// server returns the configuration of the accepting side.
func (c *credentials) server() *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{c.pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    c.roots,
		MinVersion:   tls.VersionTLS13,
		NextProtos:   protocols(),
		// Resumption would pass over a change of the CA.
		SessionTicketsDisabled: true,
	}
}

// client returns the configuration of the dialling side. Go's own check of a
// server needs a host name; here who it is, is told by the URI SAN, so the
// check is made by hand, without one.
func (c *credentials) client(kind Kind) *tls.Config {
	return &tls.Config{
		Certificates:           []tls.Certificate{c.pair},
		InsecureSkipVerify:     true, // VerifyConnection verifies
		MinVersion:             tls.VersionTLS13,
		NextProtos:             []string{kind.protocol()},
		SessionTicketsDisabled: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			chain := state.PeerCertificates
			if len(chain) == 0 {
				return &tls.CertificateVerificationError{Err: errors.New("there is none")}
			}
			between := x509.NewCertPool()
			for _, certificate := range chain[1:] {
				between.AddCert(certificate)
			}
			_, err := chain[0].Verify(x509.VerifyOptions{
				Roots: c.roots, Intermediates: between,
				KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
			})
			if err != nil {
				return &tls.CertificateVerificationError{UnverifiedCertificates: chain, Err: err}
			}
			return nil
		},
	}
}
