package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/identity"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/internal/porttest"
	"github.com/palisade-go/palisade/transport"
)

// split is nodes with two different configurations on one network. The first
// side has a quorum by its own configuration, the second has none by its own.
type split struct {
	t           *testing.T
	dir         string
	network     *transport.Memory // nil: TCP
	addresses   map[coordinator.NodeID]string
	one, other  []coordinator.NodeID
	set         func(cfg *coordinator.Config, other bool)
	open        map[coordinator.NodeID]*coordinator.Coordinator
	keys        []string
	what        string // the field of the birth certificate that differs
	left, right string // its values
}

// splitElection is short, because most of these tests is waiting for elections
// that must not succeed; but not so short that clusters at the same time, each of
// up to five nodes, leave no time for those that must.
const splitElection = 500 * time.Millisecond

func (s *split) config(node coordinator.NodeID, other bool) coordinator.Config {
	cfg := coordinator.Config{
		Dir: filepath.Join(s.dir, fmt.Sprintf("node-%d", node)), Cluster: "split", NodeID: node,
		Peers: s.peers(1, 2, 3), Groups: 3, TLS: transport.Insecure, ElectionTimeout: splitElection, TTL: long,
	}
	s.set(&cfg, other)
	return cfg
}

func (s *split) peers(ids ...coordinator.NodeID) map[coordinator.NodeID]string {
	peers := make(map[coordinator.NodeID]string)
	for _, id := range ids {
		peers[id] = s.addresses[id]
	}
	return peers
}

func (s *split) start(node coordinator.NodeID) {
	s.t.Helper()
	require.NoError(s.t, s.tryStart(s.config(node, slices.Contains(s.other, node))))
}

func (s *split) tryStart(cfg coordinator.Config) error {
	env := inject.Env{}
	if s.network != nil {
		env.Network = s.network.Join
	}
	c, err := coordinator.Open(inject.With(context.Background(), env), cfg)
	if err == nil {
		s.open[cfg.NodeID] = c
	}
	return err
}

// closeAll closes all nodes at the same time: those without a quorum wait for
// one first.
func (s *split) closeAll() {
	stopAll(s.t, slices.Collect(maps.Values(s.open)), (*coordinator.Coordinator).Close)
	clear(s.open)
}

// ask lets one side hold keys of several groups, if it is complete and so could
// be born, and everybody else try to get them for several election timeouts.
func (s *split) ask() {
	refused, holders := s.other, s.one
	if len(s.one) < len(s.config(s.one[0], false).Peers) {
		refused, holders = append(slices.Clone(s.one), s.other...), nil
	}
	for _, node := range holders {
		require.NoError(s.t, s.open[node].WaitReady(patient(s.t)), "node %d", node)
	}
	var leases []*coordinator.Lease
	for i, key := range s.keys {
		if holders == nil {
			break
		}
		lease, err := s.open[holders[i%len(holders)]].Acquire(patient(s.t), key)
		require.NoError(s.t, err)
		leases = append(leases, lease)
	}
	s.askInVain(refused)
	for _, lease := range leases {
		require.NoError(s.t, lease.Err())
		release(s.t, lease)
	}
}

// askInVain lets nodes try to get the keys, by Acquire and by TryAcquire. They
// must learn that a peer is of another cluster, and in what it differs.
func (s *split) askInVain(nodes []coordinator.NodeID) {
	for _, node := range nodes {
		awaitRefusal(s.t, s.open[node])
	}
	var asking sync.WaitGroup
	try := func(op string, node coordinator.NodeID, call func(context.Context) error) {
		asking.Add(1)
		go func() {
			defer asking.Done()
			ctx, cancel := context.WithTimeout(context.Background(), 6*splitElection)
			defer cancel()
			// An answer that the key is busy would be one of the other side.
			err := call(ctx)
			var refused *coordinator.RefusedError
			switch {
			case !errors.Is(err, coordinator.ErrUnavailable):
				s.t.Errorf("%s on node %d: %v", op, node, err)
			case !errors.As(err, &refused) || refused.Reason != coordinator.RefusedCluster:
				s.t.Errorf("%s on node %d does not name the other cluster: %v", op, node, err)
			case !strings.Contains(refused.Detail, s.what) || !strings.Contains(refused.Detail, s.left) || !strings.Contains(refused.Detail, s.right):
				s.t.Errorf("%s on node %d does not say what differs: %v", op, node, err)
			}
		}()
	}
	for _, node := range nodes {
		c := s.open[node]
		for _, key := range s.keys {
			try("Acquire", node, func(ctx context.Context) error {
				_, err := c.Acquire(ctx, key)
				return err
			})
			try("TryAcquire", node, func(ctx context.Context) error { // gives up after 3 election timeouts
				_, err := c.TryAcquire(ctx, key)
				return err
			})
		}
		try("WaitReady", node, c.WaitReady)
	}
	asking.Wait()
}

// reopen checks that a directory is bound to the value that it was made with.
func (s *split) reopen(node coordinator.NodeID) {
	s.t.Helper()
	other := slices.Contains(s.other, node)
	stored, configured := s.left, s.right
	if other {
		stored, configured = configured, stored
	}
	cfg := s.config(node, !other)
	err := s.tryStart(cfg)
	require.Error(s.t, err)
	if _, member := cfg.Peers[node]; !member {
		require.ErrorIs(s.t, err, coordinator.ErrInvalid)
		require.ErrorContains(s.t, err, fmt.Sprintf("NodeID %d is not in Peers", node))
	} else {
		var mismatch *identity.MismatchError
		require.ErrorAs(s.t, err, &mismatch)
		require.Equal(s.t, s.what, mismatch.What)
		require.Equal(s.t, stored, mismatch.Stored)
		require.Equal(s.t, configured, mismatch.Configured)
		require.ErrorContains(s.t, err, s.what+": the directory was made with "+stored+", the configuration has "+configured)
	}
	require.NoError(s.t, s.tryStart(s.config(node, other)), "with its own configuration")
}

func TestDifferentConfigurationsCantSplitACluster(t *testing.T) {
	type ids = []coordinator.NodeID
	groups := split{
		one: ids{1, 2}, other: ids{3}, what: "groups", left: "3", right: "6",
		set: func(cfg *coordinator.Config, other bool) {
			if other {
				cfg.Groups = 6
			}
		},
	}
	members := split{
		one: ids{1, 2, 3}, other: ids{4, 5}, what: "members", left: "[1 2 3]", right: "[1 2 3 4 5]",
	}
	epoch := split{
		one: ids{1, 2}, other: ids{3}, what: "epoch", left: "0", right: "7",
		set: func(cfg *coordinator.Config, other bool) {
			if other {
				cfg.Epoch = 7
			}
		},
	}
	cluster := split{
		one: ids{1, 2}, other: ids{3}, what: "cluster", left: "split", right: "spilt",
		set: func(cfg *coordinator.Config, other bool) {
			if other {
				cfg.Cluster = "spilt"
			}
		},
	}
	for _, c := range []struct {
		name  string
		split split
		order ids
		tcp   bool
	}{
		{"GroupsOfTheFirstNodeAreOthers", groups, ids{3, 1, 2}, false},
		{"GroupsOfTheSecondNodeAreOthers", groups, ids{1, 3, 2}, false},
		{"GroupsOfTheLastNodeAreOthers", groups, ids{1, 2, 3}, false},
		{"GroupsAreOthersOverTCP", groups, ids{3, 1, 2}, true},
		{"TwoWithFivePeersComeFirst", members, ids{4, 5, 1, 2, 3}, false},
		{"TwoWithFivePeersComeInBetween", members, ids{1, 4, 2, 5, 3}, false},
		{"TwoWithFivePeersComeLast", members, ids{1, 2, 3, 4, 5}, false},
		{"TwoHaveFivePeersOverTCP", members, ids{4, 1, 2, 3, 5}, true},
		{"EpochOfOneIsAnother", epoch, ids{3, 1, 2}, false},
		{"ClusterOfOneIsAnother", cluster, ids{3, 1, 2}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they mostly wait
			s := c.split
			s.t, s.dir, s.open = t, t.TempDir(), make(map[coordinator.NodeID]*coordinator.Coordinator)
			s.keys = []string{"a", "b", "c"}
			s.addresses = make(map[coordinator.NodeID]string)
			for i, address := range porttest.Take(t, 5) {
				s.addresses[coordinator.NodeID(i+1)] = address
			}
			if s.set == nil {
				s.set = func(cfg *coordinator.Config, other bool) {
					if other {
						cfg.Peers = s.peers(1, 2, 3, 4, 5)
					}
				}
			}
			if !c.tcp {
				s.network = transport.NewMemory(1)
				t.Cleanup(func() { require.NoError(t, s.network.Close()) })
			}
			t.Cleanup(s.closeAll)
			for _, node := range c.order {
				s.start(node)
			}
			s.ask()
			s.closeAll()
			for _, node := range c.order {
				s.reopen(node)
			}
		})
	}
}
