package coordinator_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/transport"
)

// The commands of the operations guide make files with which three nodes talk to
// one another.
func TestTheGuidesCertificatesAreAccepted(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join("..", "docs", "operations.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(guide), "<!-- TLS example, run by a test -->\n\n```sh\n")
	require.True(t, found, "the guide has the example")
	commands, _, found := strings.Cut(after, "```")
	require.True(t, found)

	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed; .ci/run installs it")
	}
	dir := t.TempDir()
	shell := exec.Command("sh", "-euc", commands)
	shell.Dir = dir
	said, err := shell.CombinedOutput()
	require.NoError(t, err, "%s", said)
	files := func(node int) transport.TLS {
		in := func(suffix string) string { return filepath.Join(dir, fmt.Sprintf("node-%d%s", node, suffix)) }
		return transport.TLS{CAFile: filepath.Join(dir, "ca.pem"), CertFile: in(".pem"), KeyFile: in(".key")}
	}
	require.Error(t, files(1).Check("billing", 2), "the files are those of one node")
	require.Error(t, files(1).Check("shipping", 1), "of one cluster")
	cluster := newCluster(t, 3, locktest.WithTCP(), locktest.WithConfig(func(node int, cfg *coordinator.Config) {
		cfg.Cluster, cfg.TLS = "billing", files(node)
	}))
	lease, err := cluster.Node(2).Coordinator().Acquire(patient(t), "job")
	require.NoError(t, err)
	require.NoError(t, lease.Release(patient(t)))
}
