package coordinator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// tlsElection is short, because half of the test is waiting for elections that
// must not succeed.
const tlsElection = 200 * time.Millisecond

// Three nodes verify one another. One that comes back with papers that the
// others don't trust, or with none, takes no part until it has the right ones
// again.
func TestTLS(t *testing.T) {
	ours, foreign := newAuthority(t, "ours"), newAuthority(t, "foreign")
	papers := func(node int) *coordinator.TLS { return ours.certify(t, fmt.Sprintf("node-%d", node), ours) }
	cluster := locktest.New(t, 3, locktest.WithTCP(), locktest.WithConfig(func(node int, cfg *coordinator.Config) {
		cfg.TLS, cfg.ElectionTimeout = papers(node), tlsElection
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
		tls  *coordinator.TLS
	}{
		{"ANodeOfAnotherAuthorityTakesNoPart", foreign.certify(t, "node-3", foreign)},
		{"ANodeThatTrustsOursButIsSignedByAnotherTakesNoPart", foreign.certify(t, "stranger", ours)},
		{"ANodeWithoutTLSTakesNoPart", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			third.Kill()
			third.Restart(func(cfg *coordinator.Config) { cfg.TLS = c.tls })
			lease, err := cluster.Node(1).Coordinator().Acquire(patient(t), key)
			require.NoError(t, err, "the others are a quorum")
			defer func() { require.NoError(t, lease.Release(patient(t))) }()

			ctx, cancel := context.WithTimeout(context.Background(), 5*tlsElection)
			defer cancel()
			require.ErrorIs(t, third.Coordinator().WaitReady(ctx), coordinator.ErrUnavailable)
			_, err = third.Coordinator().TryAcquire(patient(t), cluster.KeyIn(2, "other"))
			require.ErrorIs(t, err, coordinator.ErrUnavailable)
			for _, d := range cluster.Dumps(1) {
				heard := fmt.Sprintf("presence 3 incarnation=%d ", third.Coordinator().Status().Incarnation)
				require.NotContains(t, d.Text, heard, "node %d", d.Node)
			}
		})
	}

	third.Kill()
	third.Restart(func(cfg *coordinator.Config) { cfg.TLS = papers(3) })
	lease, err := third.Coordinator().Acquire(patient(t), key)
	require.NoError(t, err, "with its own papers again")
	require.NoError(t, lease.Release(patient(t)))
	require.NoError(t, cluster.WaitEqualDumps(patient(t)))
}
