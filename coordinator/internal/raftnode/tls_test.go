package raftnode

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

// authority signs certificates of nodes on the loopback address.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	a := &authority{t: t, dir: filepath.Join(t.TempDir(), name)}
	require.NoError(t, os.MkdirAll(a.dir, 0o700))
	a.key = a.newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	require.NoError(t, err)
	a.cert, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	return key
}

func (a *authority) write(name, kind string, der []byte) string {
	path := filepath.Join(a.dir, name)
	require.NoError(a.t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
	return path
}

// files returns the files of a node that this authority vouches for.
func (a *authority) files() *TLSFiles {
	key := a.newKey()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	require.NoError(a.t, err)
	encoded, err := x509.MarshalECPrivateKey(key)
	require.NoError(a.t, err)
	return &TLSFiles{
		CA:   filepath.Join(a.dir, "ca.pem"),
		Cert: a.write("cert.pem", "CERTIFICATE", der),
		Key:  a.write("key.pem", "EC PRIVATE KEY", encoded),
	}
}

func TestTLS(t *testing.T) {
	t.Run("CarriesTheGroup", func(t *testing.T) {
		files := newAuthority(t, "ca").files()
		c := start(t, 3, overTCP(), withConfig(func(cfg *Config) { cfg.TLS = files }))
		for _, p := range c.peers {
			p.send(1)
		}
	})

	t.Run("KeepsOutWhoHasACertificateOfAnotherAuthority", func(t *testing.T) {
		files, foreign := newAuthority(t, "ca").files(), newAuthority(t, "other-ca").files()
		const stranger = statemachine.NodeID(3)
		c := start(t, 3, overTCP(), withConfig(func(cfg *Config) {
			cfg.TLS = files
			if cfg.Node == stranger {
				cfg.TLS = foreign
			}
		}))
		c.peers[1].send(1)
		c.peers[2].send(1)
		ctx, cancel := context.WithTimeout(context.Background(), 4*election)
		defer cancel()
		require.ErrorIs(t, c.peers[stranger].node.Read(ctx, 1, nil), context.DeadlineExceeded)
		require.Zero(t, c.peers[stranger].node.Stats(1).AppliedIndex)
	})
}
