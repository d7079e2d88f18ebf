package locktest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// patience bounds every wait of these tests, far above what they need.
const patience = 3 * time.Minute

// long is a TTL that no test outlasts: what has it is lost by a clock that was
// moved, and not because the machine is busy.
const long = time.Hour

// steady makes who leads stay the leader, and who leaves be heard, however busy
// the machine is; and nothing expires by itself.
func steady() locktest.Option {
	return locktest.WithConfig(func(_ int, cfg *coordinator.Config) {
		cfg.ElectionTimeout, cfg.TTL = 2*time.Second, long
	})
}

// requireTaken says that a node's try for a key finds it taken. It tries again if
// a busy machine takes longer than a try waits.
func requireTaken(t *testing.T, n *locktest.Node, key string) {
	t.Helper()
	for ctx := patient(t); ; {
		_, err := n.Coordinator().TryAcquire(ctx, key)
		if errors.Is(err, coordinator.ErrUnavailable) && ctx.Err() == nil {
			continue
		}
		require.ErrorIs(t, err, coordinator.ErrBusy)
		return
	}
}

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestNew(t *testing.T) {
	for _, nodes := range []int{1, 3, 5, 7} {
		t.Run(fmt.Sprintf("OpensAClusterOf%d", nodes), func(t *testing.T) {
			c := locktest.New(t, nodes)
			require.Len(t, c.Nodes(), nodes)
			for i := 1; i <= nodes; i++ {
				require.Equal(t, i, c.Node(i).Number())
				require.True(t, c.Node(i).Running())
				require.DirExists(t, c.Node(i).Dir())
			}
			lease, err := c.Node(nodes).Coordinator().Acquire(patient(t), "key", coordinator.WithTTL(long))
			require.NoError(t, err)
			require.True(t, lease.Held())
		})
	}
	t.Run("RefusesOtherNumbers", func(t *testing.T) {
		for _, nodes := range []int{-1, 0, 2, 4, 6, 8} {
			require.Contains(t, run(t, func(t testing.TB) { locktest.New(t, nodes) }).text(), "1, 3, 5 or 7 nodes")
		}
	})
	t.Run("RefusesANilOption", func(t *testing.T) {
		require.Contains(t, run(t, func(t testing.TB) { locktest.New(t, 1, nil) }).text(), "option 0 is nil")
	})
	t.Run("FailsWhenANodeCanNotBeOpened", func(t *testing.T) {
		r := run(t, func(t testing.TB) {
			locktest.New(t, 3, locktest.WithConfig(func(node int, cfg *coordinator.Config) {
				if node == 2 {
					cfg.TTL = 1
				}
			}))
		})
		require.True(t, r.Failed())
		require.Contains(t, r.text(), "open node 2")
		require.Contains(t, r.text(), "TTL is 1ns")
	})
	t.Run("TwoClustersOfOneTestDoNotMeet", func(t *testing.T) {
		one, two := locktest.New(t, 1), locktest.New(t, 1)
		ctx := patient(t)
		_, err := one.Node(1).Coordinator().Acquire(ctx, "key", coordinator.WithTTL(long))
		require.NoError(t, err)
		_, err = two.Node(1).Coordinator().Acquire(ctx, "key")
		require.NoError(t, err)
	})
}

func TestNodeOutOfRange(t *testing.T) {
	c := locktest.New(t, 1)
	require.Contains(t, run(t, func(t testing.TB) { locktest.New(t, 1).Node(2) }).text(), "node 2 of a cluster of 1")
	require.Equal(t, "node 1 runs", c.String())
	c.Node(1).Kill()
	require.Equal(t, "node 1 stopped", c.String())
}

func TestOptions(t *testing.T) {
	t.Run("TheDefaultsAreThoseOfThePackage", func(t *testing.T) {
		seen := make(map[int]coordinator.Config)
		var mu sync.Mutex
		look := locktest.WithConfig(func(node int, cfg *coordinator.Config) {
			mu.Lock()
			defer mu.Unlock()
			seen[node] = *cfg
		})
		locktest.New(t, 3, look)
		for node := 1; node <= 3; node++ {
			require.Equal(t, coordinator.NodeID(node), seen[node].NodeID)
			require.Equal(t, locktest.ElectionTimeout, seen[node].ElectionTimeout)
			require.Equal(t, locktest.TTL, seen[node].TTL)
			require.Equal(t, locktest.Groups, seen[node].Groups)
			require.Len(t, seen[node].Peers, 3)
		}
		locktest.New(t, 1, look)
		require.Equal(t, coordinator.SingleElectionTimeout, seen[1].ElectionTimeout)
		require.Equal(t, locktest.MinTTL, 4*locktest.ElectionTimeout)
	})
	t.Run("WithConfigAppliesInOrderAndToEachStart", func(t *testing.T) {
		c := locktest.New(t, 1,
			locktest.WithConfig(func(_ int, cfg *coordinator.Config) { cfg.Groups = 1; cfg.Limits.Keys = 5 }),
			locktest.WithConfig(func(_ int, cfg *coordinator.Config) { cfg.Groups = 2 }))
		require.Len(t, c.Node(1).Coordinator().Status().Groups, 2)
		c.Node(1).Restart()
		_, err := c.Node(1).Coordinator().TryAcquireAll(patient(t), []string{"a", "b", "c", "d", "e", "f"})
		require.ErrorContains(t, err, "at most 5")
	})
	t.Run("WithLoggerTakesWhatTheNodesLog", func(t *testing.T) {
		var log bytes.Buffer
		locktest.New(t, 1, locktest.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			locktest.WithConfig(func(_ int, cfg *coordinator.Config) {
				cfg.Logger.Info("the configuration was looked at")
				cfg.Logger = nil
			}))
		require.Contains(t, log.String(), "the configuration was looked at")
	})
	t.Run("WithSnapshotEntriesMakesANodeCatchUpFromASnapshot", func(t *testing.T) {
		c := locktest.New(t, 3, locktest.WithSnapshotEntries(20))
		ctx := patient(t)
		c.Node(3).Kill()
		for range 100 {
			lease, err := c.Node(1).Coordinator().Acquire(ctx, "key")
			require.NoError(t, err)
			require.NoError(t, lease.Release(ctx))
		}
		require.NotZero(t, c.Faults().SnapshotsCreated)
		c.Node(3).Restart()
		require.NoError(t, c.WaitReady(ctx))
		require.NotZero(t, c.Node(3).Faults().SnapshotsInstalled)
		require.NoError(t, c.WaitEqualDumps(ctx))
	})
}

func TestWithTCP(t *testing.T) {
	c := locktest.New(t, 3, locktest.WithTCP())
	ctx := patient(t)
	first, err := c.Node(1).Coordinator().Acquire(ctx, "key", coordinator.WithTTL(long))
	require.NoError(t, err)
	requireTaken(t, c.Node(2), "key")
	require.NoError(t, first.Release(ctx))
	c.Node(3).Kill()
	second, err := c.Node(2).Coordinator().Acquire(ctx, "key")
	require.NoError(t, err)
	require.Greater(t, second.Token(), first.Token())
	c.Node(3).Restart()
	require.NoError(t, c.WaitReady(ctx))
	require.NoError(t, c.WaitEqualDumps(ctx))
}

func TestWithTCPOffersNoFaults(t *testing.T) {
	methods := map[string]func(*locktest.Cluster){
		"Cut":       func(c *locktest.Cluster) { c.Cut(1, 1) },
		"BlackHole": func(c *locktest.Cluster) { c.BlackHole(1, 1) },
		"Delay":     func(c *locktest.Cluster) { c.Delay(1, 1, 0, 0) },
		"Drop":      func(c *locktest.Cluster) { c.Drop(1, 1, 1) },
		"Duplicate": func(c *locktest.Cluster) { c.Duplicate(1, 1, 1) },
		"Isolate":   func(c *locktest.Cluster) { c.Isolate(1) },
		"Heal":      func(c *locktest.Cluster) { c.Heal() },
		"Traffic":   func(c *locktest.Cluster) { c.Traffic(1, 1) },
	}
	for name, call := range methods {
		r := run(t, func(t testing.TB) { call(locktest.New(t, 1, locktest.WithTCP())) })
		require.Contains(t, r.text(), name+" is not offered by a cluster WithTCP")
	}
}

func TestAFailedTestIsToldTheSeedAndTheLog(t *testing.T) {
	r := run(t, func(t testing.TB) {
		c := locktest.New(t, 1, locktest.WithSeed(4711), locktest.WithConfig(func(_ int, cfg *coordinator.Config) {
			cfg.Logger.Info("the configuration was looked at")
		}))
		c.Node(1).Kill()
		t.Errorf("this test fails")
	})
	require.Contains(t, r.text(), "WithSeed(4711)")
	require.Contains(t, r.text(), "the configuration was looked at")

	r = run(t, func(t testing.TB) { locktest.New(t, 1, locktest.WithSeed(4711)) })
	require.False(t, r.Failed())
	require.NotContains(t, r.text(), "4711", "a test that passed needs no seed")
}

func TestCleanUpStopsNodesThatAreCutOff(t *testing.T) {
	r := run(t, func(t testing.TB) {
		c := locktest.New(t, 3)
		if _, err := c.Node(1).Coordinator().Acquire(context.Background(), "key"); err != nil {
			t.Errorf("acquire: %v", err)
		}
		c.Isolate(1)
		c.Cut(2, 3)
		c.Node(3).Close()
	})
	require.False(t, r.Failed(), r.text())
}
