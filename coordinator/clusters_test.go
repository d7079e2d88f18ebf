package coordinator_test

import (
	"testing"
	"time"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// The clusters of these tests: none of them gives way to a busy machine.

// long is the TTL of the clusters of these tests. No test outlasts it: a lease
// ends, and a place in line is lost, because a clock was moved and not because
// the machine is busy. longer outlasts what moves a clock past long a few times.
// What has to end by real time says its TTL.
const (
	long   = time.Hour
	longer = 20 * long
)

// newCluster is locktest.New, with long as the TTL.
func newCluster(t testing.TB, nodes int, opts ...locktest.Option) *locktest.Cluster {
	t.Helper()
	withLong := locktest.WithConfig(func(_ int, cfg *coordinator.Config) { cfg.TTL = long })
	return locktest.New(t, nodes, append([]locktest.Option{withLong}, opts...)...)
}

// steadyElection is an election timeout that no busy machine outlasts.
const steadyElection = 2 * time.Second

// newSteadyCluster is newCluster for a test that can't do with an election that
// it has not caused: because it cuts the links to the leader it knows, counts
// entries or batches, or has a node tell the others that it goes. Elections, tries,
// and the time that Close takes without a quorum are longer in it.
func newSteadyCluster(t testing.TB, nodes int, opts ...locktest.Option) *locktest.Cluster {
	t.Helper()
	steady := locktest.WithConfig(func(_ int, cfg *coordinator.Config) { cfg.ElectionTimeout = steadyElection })
	return newCluster(t, nodes, append([]locktest.Option{steady}, opts...)...)
}
