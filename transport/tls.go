package transport

import (
	"errors"
	"fmt"
	"strings"
)

// TLS says how nodes prove to one another who they are. Its zero value is
// refused: there is no default for this.
//
// Each node's certificate needs the URI SAN that NodeURI returns, and the key
// usages server and client authentication, as every node is both. Host names
// play no part in it. Revocation lists are not read: a certificate ends when
// it expires or when its CA is taken out of CAFile.
type TLS struct {
	// CAFile has the certificates, in PEM, of those who sign for the nodes of
	// the cluster. During a change of the CA it has the old and the new.
	CAFile string
	// CertFile has this node's certificate and what leads from it to the CA,
	// in PEM.
	CertFile string
	// KeyFile has the private key of the certificate, in PEM.
	KeyFile string

	insecure bool
}

// Insecure stands for plaintext: whoever reaches the port can read and change
// everything and be any node.
var Insecure = TLS{insecure: true}

// IsInsecure says whether t is Insecure.
func (t TLS) IsInsecure() bool { return t == TLS{insecure: true} }

// Validate returns what is wrong with t: nil for Insecure, and when all files
// are named. It does not read them.
func (t TLS) Validate() error {
	if t.IsInsecure() {
		return nil
	}
	var missing []string
	for _, file := range []struct{ name, path string }{
		{"CAFile", t.CAFile}, {"CertFile", t.CertFile}, {"KeyFile", t.KeyFile},
	} {
		if file.path == "" {
			missing = append(missing, file.name)
		}
	}
	switch {
	case t.insecure:
		return errors.New("TLS is Insecure and names files: choose one")
	case len(missing) == 3:
		return errors.New("TLS is not set: name CAFile, CertFile and KeyFile, or say transport.Insecure for plaintext")
	case len(missing) > 0:
		return fmt.Errorf("TLS lacks %s: it needs all of CAFile, CertFile and KeyFile", strings.Join(missing, " and "))
	}
	return nil
}

// Check returns what is wrong with t for a node of a cluster: what Validate
// says, and otherwise what is wrong with the files, which it reads. NewTCP
// checks the same.
func (t TLS) Check(cluster string, node uint64) error {
	if err := t.Validate(); err != nil || t.IsInsecure() {
		return err
	}
	self, err := NodeURI(cluster, node)
	if err != nil {
		return err
	}
	_, err = t.load(self)
	return err
}

// clusterNameMax is how long a cluster's name may be in a certificate.
const clusterNameMax = 64

// NodeURI returns the name that a node's certificate must have as its only URI
// SAN of the scheme palisade: palisade://<cluster>/<node>. The cluster's name
// has to be of 1 to 64 ASCII letters, digits, '-', '_' and single dots inside,
// as it takes the place of a host in the URI.
func NodeURI(cluster string, node uint64) (string, error) {
	strange := strings.ContainsFunc(cluster, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune("-_.", r)
	})
	for _, label := range strings.Split(cluster, ".") {
		strange = strange || label == ""
	}
	if strange || len(cluster) > clusterNameMax {
		return "", fmt.Errorf("%w: the cluster name %q can't be in a certificate: "+
			"1 to %d ASCII letters, digits, '-', '_' and single dots inside are allowed", ErrInvalid, cluster, clusterNameMax)
	}
	if node == 0 {
		return "", fmt.Errorf("%w: node 0 can't be in a certificate", ErrInvalid)
	}
	return fmt.Sprintf("%s://%s/%d", uriScheme, cluster, node), nil
}

const uriScheme = "palisade"
