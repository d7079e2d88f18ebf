package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport/transporttest"
)

// writeCertificates writes what the Secret of the manifests has, and returns
// where: a CA, and a certificate with its key for each node.
func writeCertificates(t *testing.T, parent string, nodes int) string {
	dir := filepath.Join(parent, "tls")
	require.NoError(t, os.Mkdir(dir, 0o700))
	authority := transporttest.NewAuthority(t)
	for node := 1; node <= nodes; node++ {
		files := authority.Certify(t, dir, transporttest.Holder{Cluster: "billing", Node: uint64(node)})
		own := filepath.Join(dir, fmt.Sprintf("node-%d", node))
		require.NoError(t, os.Rename(files.CertFile, own+".pem"))
		require.NoError(t, os.Rename(files.KeyFile, own+".key"))
	}
	return dir
}
