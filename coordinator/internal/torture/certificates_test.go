package torture

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

	"github.com/palisade-go/palisade/transport"
)

// lifetime is how long a certificate is good for, longer than any run.
const lifetime = 30 * 24 * time.Hour

// authority signs the certificates of the nodes.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := template("authority of the torture", 1)
	t.IsCA, t.BasicConstraintsValid = true, true
	t.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	return &authority{certificate, key}, err
}

// certify writes a node's key and certificate into dir.
func (a *authority) certify(dir string, node int) (transport.TLS, error) {
	file := func(name string) string { return filepath.Join(dir, fmt.Sprintf("node-%d-%s", node, name)) }
	files := transport.TLS{CAFile: file("ca.pem"), CertFile: file("cert.pem"), KeyFile: file("key.pem")}
	name, err := transport.NodeURI(clusterName, uint64(node))
	if err != nil {
		return files, err
	}
	uri, err := url.Parse(name)
	if err != nil {
		return files, err
	}
	t := template(name, 1+int64(node))
	t.URIs = []*url.URL{uri}
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return files, err
	}
	certificate, err := x509.CreateCertificate(rand.Reader, t, a.certificate, key.Public(), a.key)
	if err != nil {
		return files, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return files, err
	}
	for _, f := range []struct {
		path, kind string
		der        []byte
	}{
		{files.CAFile, "CERTIFICATE", a.certificate.Raw},
		{files.CertFile, "CERTIFICATE", certificate},
		{files.KeyFile, "PRIVATE KEY", secret},
	} {
		text := pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.der})
		if err := os.WriteFile(f.path, text, 0o600); err != nil {
			return files, err
		}
	}
	return files, nil
}

func template(name string, serial int64) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
	}
}
