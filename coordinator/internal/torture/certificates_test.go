package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

// certify writes each node's key and certificate below dir.
func certify(t *testing.T, dir string, nodes int) []transport.TLS {
	t.Helper()
	authority := transporttest.NewAuthority(t)
	var papers []transport.TLS
	for node := 1; node <= nodes; node++ {
		own := filepath.Join(dir, fmt.Sprintf("papers-%d", node))
		require.NoError(t, os.Mkdir(own, 0o700))
		papers = append(papers, authority.Certify(t, own, transporttest.Holder{Cluster: clusterName, Node: uint64(node)}))
	}
	return papers
}
