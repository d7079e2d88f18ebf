package coordinator_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/transport"
	"github.com/palisade-go/palisade/transport/transporttest"
)

// Three nodes verify one another. One that comes back with papers that the
// others don't trust, with those of another node, or with none takes no part
// and is told why, until it has the right ones again.
func TestTLS(t *testing.T) {
	t.Parallel()
	ours, foreign := transporttest.NewAuthority(t), transporttest.NewAuthority(t)
	papers := func(by *transporttest.Authority, node uint64, trusted ...*transporttest.Authority) transport.TLS {
		who := transporttest.Holder{Cluster: "locktest", Node: node}
		return by.Certify(t, t.TempDir(), who, trusted...)
	}
	own := map[int]transport.TLS{}
	for node := 1; node <= 3; node++ {
		own[node] = papers(ours, uint64(node))
	}
	cluster := newCluster(t, 3, locktest.WithTCP(), locktest.WithConfig(func(node int, cfg *coordinator.Config) {
		cfg.TLS = own[node]
	}))
	key := cluster.KeyIn(1, "job")
	for _, n := range cluster.Nodes() {
		lease, err := n.Coordinator().Acquire(patient(t), key)
		require.NoError(t, err)
		require.NoError(t, lease.Release(patient(t)))
	}

	third := cluster.Node(3)
	for _, c := range []struct {
		name string
		tls  transport.TLS
		why  coordinator.RefusalReason
	}{
		{"ANodeOfAnotherAuthorityTakesNoPart", papers(foreign, 3), coordinator.RefusedCertificate},
		{"ANodeThatTrustsOursButIsSignedByAnotherTakesNoPart", papers(foreign, 3, ours), coordinator.RefusedCertificate},
		{"ANodeWithoutTLSTakesNoPart", transport.Insecure, coordinator.RefusedHandshake},
	} {
		t.Run(c.name, func(t *testing.T) {
			third.Kill()
			third.Restart(func(cfg *coordinator.Config) { cfg.TLS = c.tls })
			lease, err := cluster.Node(1).Coordinator().Acquire(patient(t), key)
			require.NoError(t, err, "the others are a quorum")
			defer func() { require.NoError(t, lease.Release(patient(t))) }()

			awaitRefusal(t, third.Coordinator())
			ctx, cancel := context.WithTimeout(context.Background(), 6*locktest.ElectionTimeout)
			defer cancel()
			err = third.Coordinator().WaitReady(ctx)
			require.ErrorIs(t, err, coordinator.ErrUnavailable)
			require.ErrorIs(t, err, coordinator.ErrRefused)
			var refused *coordinator.RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.why, refused.Reason, "%v", refused)
			_, err = third.Coordinator().TryAcquire(patient(t), cluster.KeyIn(2, "other"))
			require.ErrorIs(t, err, coordinator.ErrUnavailable)
			for _, d := range cluster.Dumps(1) {
				heard := fmt.Sprintf("presence 3 incarnation=%d ", third.Coordinator().Status().Incarnation)
				require.NotContains(t, d.Text, heard, "node %d", d.Node)
			}
		})
	}

	third.Kill()
	third.Restart(func(cfg *coordinator.Config) { cfg.TLS = own[3] })
	lease, err := third.Coordinator().Acquire(patient(t), key)
	require.NoError(t, err, "with its own papers again")
	require.NoError(t, lease.Release(patient(t)))
	require.NoError(t, cluster.WaitEqualDumps(patient(t)))
}

// The certificate of another node is refused by Open, which names both.
func TestTheCertificateMustBeTheNodes(t *testing.T) {
	files := transporttest.NewAuthority(t).Certify(t, t.TempDir(), transporttest.Holder{Cluster: "billing", Node: 2})
	dir := filepath.Join(t.TempDir(), "data")
	_, err := coordinator.Open(context.Background(), coordinator.Config{
		Dir: dir, Cluster: "billing", NodeID: 1, TLS: files,
		Peers: map[coordinator.NodeID]string{1: "a:7400", 2: "b:7400", 3: "c:7400"},
	})
	require.ErrorIs(t, err, coordinator.ErrInvalid)
	require.ErrorContains(t, err, "palisade://billing/1")
	require.ErrorContains(t, err, "palisade://billing/2")
	require.NoDirExists(t, dir)
}
