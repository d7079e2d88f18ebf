package transporttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

// lifetime is how long a certificate is good for, longer than any test.
const lifetime = 30 * 24 * time.Hour

// Authority signs certificates for nodes under test, which live for thirty days.
// Each has a key of its own, so two with one name don't trust one another. Its
// methods are not safe for concurrent use.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	serial      int64
}

// Holder is whom a certificate is for. Only Cluster and Node are needed; the
// rest is for certificates that must be refused.
type Holder struct {
	Cluster string
	Node    uint64

	URIs     []string           // instead of the node's, nil: the node's
	NotAfter time.Time          // zero: in thirty days
	Usages   []x509.ExtKeyUsage // nil: server and client authentication
}

// NewAuthority makes an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t)}
	template := a.template("authority under test", time.Now().Add(lifetime))
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	require.NoError(t, err)
	a.certificate, err = x509.ParseCertificate(der)
	require.NoError(t, err)
	return a
}

// Certify makes a key and a certificate and writes them into dir with the
// certificates of the authorities that the node is to trust: none given is a
// itself. Files that are there are replaced one after the other, each at once,
// as a rotation does.
func (a *Authority) Certify(t testing.TB, dir string, who Holder, trusted ...*Authority) transport.TLS {
	t.Helper()
	if len(trusted) == 0 {
		trusted = []*Authority{a}
	}
	var roots []byte
	for _, authority := range trusted {
		roots = append(roots, block("CERTIFICATE", authority.certificate.Raw)...)
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, a.templateOf(t, who), a.certificate, key.Public(), a.key)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	files := transport.TLS{
		CAFile:   filepath.Join(dir, "ca.pem"),
		CertFile: filepath.Join(dir, "cert.pem"),
		KeyFile:  filepath.Join(dir, "key.pem"),
	}
	replace(t, files.CAFile, roots)
	replace(t, files.CertFile, block("CERTIFICATE", der))
	replace(t, files.KeyFile, block("PRIVATE KEY", secret))
	return files
}

func (a *Authority) template(name string, notAfter time.Time) *x509.Certificate {
	a.serial++
	return &x509.Certificate{
		SerialNumber: big.NewInt(a.serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-24 * time.Hour),
		NotAfter:     notAfter,
	}
}

func (a *Authority) templateOf(t testing.TB, who Holder) *x509.Certificate {
	t.Helper()
	if who.NotAfter.IsZero() {
		who.NotAfter = time.Now().Add(lifetime)
	}
	if who.URIs == nil {
		uri, err := transport.NodeURI(who.Cluster, who.Node)
		require.NoError(t, err)
		who.URIs = []string{uri}
	}
	if who.Usages == nil {
		who.Usages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	}
	template := a.template("node under test", who.NotAfter)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = who.Usages
	for _, text := range who.URIs {
		uri, err := url.Parse(text)
		require.NoError(t, err)
		template.URIs = append(template.URIs, uri)
	}
	return template
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// replace puts a new file in the place of the old one at once.
func replace(t testing.TB, path string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path+".new", text, 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}
