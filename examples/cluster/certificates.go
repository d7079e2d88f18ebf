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
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/transport"
)

// certificatesIn names the files with which a node proves who it is.
func certificatesIn(dir string, node coordinator.NodeID) transport.TLS {
	file := func(name string) string { return filepath.Join(dir, "certificates", name) }
	return transport.TLS{
		CAFile:   file("ca.pem"),
		CertFile: file(fmt.Sprintf("node-%d.pem", node)),
		KeyFile:  file(fmt.Sprintf("node-%d.key", node)),
	}
}

// makeCertificates makes the files of certificatesIn for all members, unless
// they are there. Several processes may do so at once: those who were not
// first find the files of the one who was.
func makeCertificates(dir string) error {
	made := filepath.Join(dir, "certificates")
	if _, err := os.Stat(made); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	making, err := os.MkdirTemp(dir, "making-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(making)
	if err := writeCertificates(making); err != nil {
		return err
	}
	// All at once: a directory does not take the place of one with files.
	err = os.Rename(filepath.Join(making, "certificates"), made)
	if _, there := os.Stat(made); there == nil {
		return nil
	}
	return err
}

// writeCertificates makes an authority, lets it sign a certificate for each
// member, and forgets its key: nobody can sign another.
func writeCertificates(dir string) error {
	a, err := newAuthority()
	if err != nil {
		return err
	}
	for _, id := range members {
		files := certificatesIn(dir, id)
		if err := os.MkdirAll(filepath.Dir(files.CAFile), 0o700); err != nil {
			return err
		}
		if err := a.certify(id, files); err != nil {
			return err
		}
	}
	return nil
}

// lifetime is how long a certificate is good for.
const lifetime = 365 * 24 * time.Hour

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := template("authority of the example", 1)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate, key}, err
}

// certify makes a node's key and certificate. What the nodes look at is the
// URI, which says the cluster and the node; host names play no part. Each node
// is client and server of the others.
func (a *authority) certify(node coordinator.NodeID, files transport.TLS) error {
	name, err := transport.NodeURI(clusterName, uint64(node))
	if err != nil {
		return err
	}
	uri, err := url.Parse(name)
	if err != nil {
		return err
	}
	template := template(name, 1+int64(node))
	template.URIs = []*url.URL{uri}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		path, kind string
		der        []byte
	}{
		{files.CAFile, "CERTIFICATE", a.certificate.Raw},
		{files.CertFile, "CERTIFICATE", certificate},
		{files.KeyFile, "PRIVATE KEY", secret},
	} {
		text := pem.EncodeToMemory(&pem.Block{Type: file.kind, Bytes: file.der})
		if err := os.WriteFile(file.path, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func template(name string, serial int64) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // clocks of machines differ
		NotAfter:     now.Add(lifetime),
	}
}
