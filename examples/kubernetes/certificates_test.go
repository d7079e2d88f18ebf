package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// writeCertificates writes what the Secret of the manifests has, and returns
// where: a CA, and a certificate with its key for each node.
func writeCertificates(t *testing.T, parent string, nodes int) string {
	dir := filepath.Join(parent, "tls")
	require.NoError(t, os.Mkdir(dir, 0o700))
	ca := &x509.Certificate{Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caKey := newKey(t)
	writePEM(t, filepath.Join(dir, "ca.pem"), "CERTIFICATE", sign(t, ca, ca, caKey, caKey))
	for node := 1; node <= nodes; node++ {
		name, err := transport.NodeURI("billing", uint64(node))
		require.NoError(t, err)
		uri, err := url.Parse(name)
		require.NoError(t, err)
		key := newKey(t)
		leaf := &x509.Certificate{
			URIs: []*url.URL{uri}, KeyUsage: x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		}
		file := filepath.Join(dir, fmt.Sprintf("node-%d", node))
		writePEM(t, file+".pem", "CERTIFICATE", sign(t, leaf, ca, key, caKey))
		secret, err := x509.MarshalPKCS8PrivateKey(key)
		require.NoError(t, err)
		writePEM(t, file+".key", "PRIVATE KEY", secret)
	}
	return dir
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

func sign(t *testing.T, certificate, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) []byte {
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	certificate.SerialNumber = serial
	certificate.NotBefore, certificate.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, certificate, parent, &key.PublicKey, parentKey)
	require.NoError(t, err)
	return der
}

func writePEM(t *testing.T, file, kind string, der []byte) {
	require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}
