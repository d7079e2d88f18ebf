package coordinator_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

// scene is a cluster of three in the midst of its work: nodes hold one and
// several keys, for different TTLs up to a day, and others are in line.
type scene struct {
	t       *testing.T
	cluster *locktest.Cluster
	keys    []string               // all that are held
	tokens  map[string]token.Token // the greatest seen of each
	jobs    []string               // a key of each group
	leases  []*coordinator.Lease   // on them, by nodes 1 to 3
	waiting sync.WaitGroup
}

func newScene(t *testing.T, opts ...locktest.Option) *scene {
	s := &scene{t: t, cluster: newSteadyCluster(t, 3, opts...), tokens: make(map[string]token.Token)}
	t.Cleanup(s.waiting.Wait)
	for group := 1; group <= locktest.Groups; group++ {
		s.jobs = append(s.jobs, s.cluster.KeyIn(group, "job"))
	}
	for i, ttl := range []time.Duration{long, longer, 24 * time.Hour} {
		s.leases = append(s.leases, s.hold(i+1, s.jobs[i], coordinator.WithTTL(ttl),
			coordinator.WithMetadata(fmt.Sprintf("job of node %d", i+1)), coordinator.WithRequestID(fmt.Sprint("request ", i+1))))
	}
	s.hold(1, s.cluster.KeyIn(1, "limited"), coordinator.WithMaxHold(24*time.Hour))
	s.holdAll(3, "{order 17}invoice", "{order 17}stock")
	s.holdAll(2, s.cluster.KeyIn(1, "part"), s.cluster.KeyIn(2, "part"), s.cluster.KeyIn(3, "part"))

	s.queue(3, "first", s.jobs[0])
	s.queue(2, "second", s.jobs[0])
	s.queue(1, "first", s.jobs[2])
	s.queue(3, "second", s.jobs[2])
	s.queue(2, "third", s.jobs[2])
	s.queue(3, "fourth", s.jobs[2])
	s.queue(1, "first", "{order 17}invoice", "{order 17}parcel")
	s.queue(2, "second", "{order 17}parcel") // reserved, not held
	require.NoError(t, s.cluster.WaitReady(patient(t)))
	return s
}

func (s *scene) node(i int) *coordinator.Coordinator { return s.cluster.Node(i).Coordinator() }

// hold lets a node take a key.
func (s *scene) hold(node int, key string, opts ...coordinator.AcquireOption) *coordinator.Lease {
	lease := acquire(s.t, s.cluster.Node(node), key, opts...)
	s.keys = append(s.keys, key)
	s.tokens[key] = lease.Token()
	return lease
}

// holdAll lets a node take several keys.
func (s *scene) holdAll(node int, keys ...string) {
	set, err := s.node(node).AcquireAll(patient(s.t), keys)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { runtime.KeepAlive(set) }) // it is not taken for forgotten
	for _, key := range keys {
		s.keys = append(s.keys, key)
		s.tokens[key], _ = set.Token(key)
	}
}

// queue puts a request of a node in line, and returns when it is there. It
// goes when its node does.
func (s *scene) queue(node int, metadata string, keys ...string) {
	before := s.waits()
	c := s.node(node)
	s.waiting.Add(1)
	go func() {
		defer s.waiting.Done()
		_, _ = c.AcquireAll(context.Background(), keys, coordinator.WithMetadata(metadata))
	}()
	require.NoError(s.t, s.cluster.Await(patient(s.t), "a request to be in line", func() bool { return s.waits() > before }))
}

// waits returns how many requests are in line, as node 1 knows it.
func (s *scene) waits() int {
	n := 0
	for _, g := range s.node(1).Status().Groups {
		n += g.Waits
	}
	return n
}

// claims returns the states of all groups on a node, but for what renewals
// change: nodes that have applied the same requests have the same.
func (s *scene) claims(node int) []string {
	var all []string
	for group := 1; group <= locktest.Groups; group++ {
		for _, d := range s.cluster.Dumps(group) {
			if d.Node == node {
				all = append(all, withoutRenewals(d.Text))
			}
		}
	}
	return all
}

// storedClaims is claims of a node that is stopped.
func (s *scene) storedClaims(node int) []string {
	all := stored(s.t, s.cluster.Node(node))
	for i, dump := range all {
		all[i] = withoutRenewals(dump)
	}
	return all
}

// killAll kills all nodes at the same time: before any of them is missed, and
// before what the callers of one take back can be committed by the others.
func (s *scene) killAll() {
	for node := 1; node <= 3; node++ {
		s.cluster.Isolate(node)
	}
	parallel(3, func(i int) { s.cluster.Node(i + 1).Kill() })
	s.cluster.Heal()
}

// allComeBack kills all nodes, and starts them again. It checks that all of
// them have what they had before, in the files and in memory.
func (s *scene) allComeBack() {
	s.t.Helper()
	before := s.claims(1)
	for node := 2; node <= 3; node++ {
		require.Equal(s.t, before, s.claims(node), "node %d", node)
	}
	s.killAll()
	for i, lease := range s.leases {
		require.ErrorIs(s.t, lease.Err(), coordinator.ErrLeaseLost, "lease of node %d", i+1)
	}
	for node := 1; node <= 3; node++ {
		require.Equal(s.t, before, s.storedClaims(node), "node %d", node)
	}
	// One node alone has no quorum, so nothing can change.
	s.cluster.Node(1).Restart()
	require.Equal(s.t, before, s.claims(1))
	s.cluster.Node(2).Restart()
	s.cluster.Node(3).Restart()
	s.goesOn()
	require.NotZero(s.t, s.cluster.Faults().SweepsProposed, "sweeps")
}

// goesOn checks that every key can be had, by one node after the other, with
// greater tokens than ever before; that nothing is left of earlier starts; and
// that all nodes agree.
func (s *scene) goesOn() {
	s.t.Helper()
	require.NoError(s.t, s.cluster.WaitReady(patient(s.t)))
	for _, key := range s.keys {
		for _, n := range s.cluster.Nodes() {
			lease := acquire(s.t, n, key)
			require.Greater(s.t, lease.Token(), s.tokens[key], "token of %q", key)
			s.tokens[key] = lease.Token()
			release(s.t, lease)
		}
	}
	require.NoError(s.t, s.cluster.WaitReady(patient(s.t)))
	awaitNothingLeft(s.t, s.cluster)
}
