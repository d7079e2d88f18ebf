package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// refusedFor waits until a node is ready, in vain, and returns the refusal.
func refusedFor(t *testing.T, ctx context.Context, n *locktest.Node, why coordinator.RefusalReason) *coordinator.RefusedError {
	t.Helper()
	err := n.Coordinator().WaitReady(ctx)
	require.ErrorIs(t, err, coordinator.ErrRefused)
	var refused *coordinator.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, why, refused.Reason, "%v", refused)
	require.NotEmpty(t, refused.Detail)
	require.NotEmpty(t, refused.Advice)
	return refused
}

// awaitRefusal waits until a node knows that it and a peer don't want each other.
func awaitRefusal(t *testing.T, c *coordinator.Coordinator) {
	t.Helper()
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(c.Status().Peers, func(p coordinator.PeerStatus) bool {
			return errors.Is(p.Err, coordinator.ErrRefused)
		})
	}, patience, 20*time.Millisecond, "node %d knows of a refusal", c.Status().NodeID)
}

// soon is a context that ends after several elections.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 6*locktest.ElectionTimeout)
	t.Cleanup(cancel)
	return ctx
}

// The leader and node 3 acknowledge a grant; node 3 loses its directory and
// the leader dies. What is left must not elect anybody: neither of them knows
// of the grant.
func TestS144AMemberThatCameBackEmptyElectsNobody(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, 3)
	one, two, three := cluster.Node(1), cluster.Node(2), cluster.Node(3)
	key := cluster.KeyIn(1, "job")
	require.NoError(t, cluster.MoveLeader(patient(t), key, 1))
	before := cluster.Dumps(1)
	cluster.Isolate(2)
	lease, err := one.Coordinator().Acquire(patient(t), key)
	require.NoError(t, err, "the leader and node 3 are a quorum")
	require.Equal(t, before[1].Text, dumpOf(cluster, 2).Text, "node 2 has not heard of the grant")

	three.Kill()
	one.Kill()
	require.NoError(t, os.RemoveAll(three.Dir()))
	cluster.Heal()
	three.Restart()
	refused := refusedFor(t, patient(t), three, coordinator.RefusedDirectory)
	require.True(t, refused.ByPeer)
	require.Equal(t, coordinator.NodeID(2), refused.Peer)
	require.ErrorIs(t, three.Coordinator().Status().Err, coordinator.ErrRefused)
	<-three.Coordinator().Done()
	require.ErrorIs(t, three.Coordinator().Ready(), coordinator.ErrRefused)
	require.NoError(t, three.Coordinator().Live())
	_, err = three.Coordinator().Acquire(patient(t), key)
	require.ErrorIs(t, err, coordinator.ErrClosed, "at once: it never can")
	require.ErrorIs(t, err, coordinator.ErrRefused)

	_, err = two.Coordinator().Acquire(soon(t), key)
	require.ErrorIs(t, err, coordinator.ErrUnavailable, "one of three is no quorum")
	require.NoError(t, two.Coordinator().Status().Err, "node 2 goes on")
	select {
	case <-two.Coordinator().Done():
		require.Fail(t, "node 2 takes no more requests")
	default:
	}
	require.Zero(t, two.Coordinator().Status().Groups[0].Leader)

	one.Restart()
	require.NoError(t, one.Coordinator().WaitReady(patient(t)))
	next, err := two.Coordinator().Acquire(patient(t), key)
	require.NoError(t, err)
	require.Greater(t, next.Token(), lease.Token(), "the grant that was acknowledged is not forgotten")
	require.NoError(t, next.Release(patient(t)))
}

func dumpOf(cluster *locktest.Cluster, node int) locktest.Dump { return cluster.Dumps(1)[node-1] }

// A cluster is born when all its nodes have met once; a majority that lost its
// disks can't start over unseen.
func TestABirthNeedsAllMembersOnce(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, 3)
	for _, n := range cluster.Nodes() {
		n.Kill()
		require.NoError(t, os.RemoveAll(n.Dir()))
	}
	one, two, three := cluster.Node(1), cluster.Node(2), cluster.Node(3)
	one.Restart()
	two.Restart()
	require.NoError(t, cluster.Await(patient(t), "node 1 to have asked both", func() bool {
		peers := one.Coordinator().Status().Peers
		return len(peers) == 2 && peers[0].Reached && peers[1].Err != nil
	}))
	err := one.Coordinator().WaitReady(soon(t))
	require.ErrorIs(t, err, coordinator.ErrUnavailable)
	require.ErrorContains(t, err, "node 3 has to let this new directory in")
	status := one.Coordinator().Status()
	require.False(t, status.Admitted)
	require.Len(t, status.Peers, 2)
	require.True(t, status.Peers[0].Reached, "node 2 says yes")
	require.NoError(t, status.Peers[0].Err)
	require.False(t, status.Peers[1].Reached)
	require.Error(t, status.Peers[1].Err)
	for _, n := range []*locktest.Node{one, two} {
		for _, g := range n.Coordinator().Status().Groups {
			require.Zero(t, g.Leader, "two of three that are new elect nobody")
		}
	}
	three.Restart()
	require.NoError(t, cluster.WaitReady(patient(t)))
	require.True(t, one.Coordinator().Status().Admitted)

	// From now on two are enough, also to start with.
	for _, n := range cluster.Nodes() {
		n.Kill()
	}
	one.Restart()
	two.Restart()
	require.NoError(t, cluster.WaitReady(patient(t)))
}

func TestAMajorityThatLostItsDisksCantStartOver(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, 3)
	for _, n := range cluster.Nodes() {
		n.Kill()
	}
	for _, n := range cluster.Nodes()[1:] {
		require.NoError(t, os.RemoveAll(n.Dir()))
	}
	for _, n := range cluster.Nodes() {
		n.Restart()
	}
	for _, n := range cluster.Nodes()[1:] {
		refused := refusedFor(t, patient(t), n, coordinator.RefusedDirectory)
		require.Equal(t, coordinator.NodeID(1), refused.Peer)
	}
	_, err := cluster.Node(1).Coordinator().Acquire(soon(t), "job")
	require.ErrorIs(t, err, coordinator.ErrUnavailable)
	require.ErrorIs(t, err, coordinator.ErrRefused, "this node says whom it refuses")
}

func TestAnOlderCopyOfADirectoryTakesNoPart(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, 3)
	three := cluster.Node(3)
	three.Kill()
	backup := t.TempDir()
	copyTree(t, three.Dir(), backup)
	three.Restart()
	require.NoError(t, cluster.WaitReady(patient(t)))
	three.Kill()
	three.Restart()
	require.NoError(t, cluster.WaitReady(patient(t)), "the others have met its latest start")
	three.Kill()

	require.NoError(t, os.RemoveAll(three.Dir()))
	copyTree(t, backup, three.Dir())
	three.Restart()
	refused := refusedFor(t, patient(t), three, coordinator.RefusedOlder)
	require.Contains(t, refused.Detail, "was met, this is start 2")
	lease, err := cluster.Node(1).Coordinator().Acquire(patient(t), "job")
	require.NoError(t, err, "the others are not disturbed")
	require.NoError(t, lease.Release(patient(t)))
}

// Node 2, which alone can tell, refuses an older copy of node 3. Node 1 can't
// tell, and with the copy's vote it would forget what nodes 2 and 3 granted.
func TestANodeThatWasRefusedForEverDoesNotVote(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, 3)
	one, two, three := cluster.Node(1), cluster.Node(2), cluster.Node(3)
	key := cluster.KeyIn(1, "job")
	three.Kill()
	backup := t.TempDir()
	copyTree(t, three.Dir(), backup)
	one.Kill()
	three.Restart() // only node 2 meets this start
	lease, err := two.Coordinator().Acquire(patient(t), key)
	require.NoError(t, err)

	three.Kill()
	require.NoError(t, os.RemoveAll(three.Dir()))
	copyTree(t, backup, three.Dir())
	cluster.Cut(1, 2)
	cluster.Cut(2, 1)
	three.Restart()
	refusedFor(t, patient(t), three, coordinator.RefusedCopy)
	one.Restart()
	_, err = one.Coordinator().Acquire(soon(t), key)
	require.ErrorIs(t, err, coordinator.ErrUnavailable)
	require.True(t, lease.Held())
	for _, g := range one.Coordinator().Status().Groups {
		require.Zero(t, g.Leader)
	}
}

// A single node has nobody who could tell.
func TestASingleNodeThatLostItsStoresIsNotFoundedAnew(t *testing.T) {
	dir := t.TempDir()
	cfg := coordinator.Config{Dir: dir}
	c, err := coordinator.Open(context.Background(), cfg)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	for _, name := range []string{"raft", "machines"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	_, err = coordinator.Open(context.Background(), cfg)
	require.ErrorIs(t, err, coordinator.ErrDirectoryDamaged)
	require.ErrorContains(t, err, dir)
}

// copyTree copies a directory with its links, which os.CopyFS refuses before
// Go 1.25.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		copied := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case d.IsDir():
			return os.MkdirAll(copied, 0o700)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			return errors.Join(err, os.Symlink(target, copied))
		}
		data, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(copied, data, 0o600))
	}))
}

// Two names that lead to each other's host, as after a mistake in Peers or
// with a stale name service: nothing is mixed up, and it heals by itself.
func TestANodeUnderAWrongAddressIsNotTalkedTo(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, 3)
	one := cluster.Node(1)
	one.Kill()
	var right map[coordinator.NodeID]string
	one.Restart(func(cfg *coordinator.Config) {
		right = map[coordinator.NodeID]string{1: cfg.Peers[1], 2: cfg.Peers[2], 3: cfg.Peers[3]}
		cfg.Peers[2], cfg.Peers[3] = cfg.Peers[3], cfg.Peers[2]
	})
	awaitRefusal(t, one.Coordinator())
	_, err := one.Coordinator().Acquire(soon(t), "job")
	require.ErrorIs(t, err, coordinator.ErrUnavailable)
	require.ErrorIs(t, err, coordinator.ErrRefused)
	for i, peer := range one.Coordinator().Status().Peers {
		var refused *coordinator.RefusedError
		if peer.Err == nil {
			continue // nothing was sent to it yet
		}
		require.ErrorAs(t, peer.Err, &refused)
		require.Equal(t, coordinator.RefusedAddress, refused.Reason)
		require.Equal(t, coordinator.NodeID(3-i), refused.Peer, "who is there instead")
		require.ErrorContains(t, refused, fmt.Sprintf("the address of node %d", 2+i))
	}
	lease, err := cluster.Node(2).Coordinator().Acquire(patient(t), "job")
	require.NoError(t, err, "the others are not disturbed")
	require.NoError(t, lease.Release(patient(t)))

	one.Restart(func(cfg *coordinator.Config) { cfg.Peers = right })
	require.NoError(t, one.Coordinator().WaitReady(patient(t)))
}

// A member whose directory is damaged, or empty while the others are away, must
// not take the chance to found a cluster of its own.
func TestS146AMemberWithBrokenDataFoundsNothing(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, 3)
	three := cluster.Node(3)
	cfg := coordinator.Config{}
	three.Restart(func(c *coordinator.Config) { cfg = *c })
	for _, n := range cluster.Nodes() {
		n.Kill()
	}
	for _, file := range []string{"identity.json", "incarnation", "peers.json"} {
		kept, err := os.ReadFile(filepath.Join(three.Dir(), file))
		require.NoError(t, err)
		for name, spoil := range map[string]func(path string) error{
			"gone":    os.Remove,
			"empty":   func(path string) error { return os.Truncate(path, 0) },
			"cut off": func(path string) error { return os.Truncate(path, int64(len(kept)/2)) },
			"zeros":   func(path string) error { return os.WriteFile(path, make([]byte, len(kept)), 0o600) },
		} {
			if file == "incarnation" && name == "cut off" {
				continue // half of a number is a number; the peers notice, as they do with an older copy
			}
			require.NoError(t, spoil(filepath.Join(three.Dir(), file)))
			_, err := coordinator.Open(context.Background(), cfg)
			require.ErrorIs(t, err, coordinator.ErrDirectoryDamaged, "%s %s", file, name)
			require.ErrorContains(t, err, three.Dir())
			require.NoError(t, os.WriteFile(filepath.Join(three.Dir(), file), kept, 0o600))
		}
	}

	// Whoever kept only what says who it is would vote a second time.
	for _, lost := range [][]string{{"raft"}, {"raft", "machines"}, {"raft", "machines", "peers.json"}} {
		kept := t.TempDir()
		copyTree(t, three.Dir(), kept)
		for _, name := range lost {
			require.NoError(t, os.RemoveAll(filepath.Join(three.Dir(), name)))
		}
		_, err := coordinator.Open(context.Background(), cfg)
		require.ErrorIs(t, err, coordinator.ErrDirectoryDamaged, "without %v", lost)
		require.NoError(t, os.RemoveAll(three.Dir()))
		copyTree(t, kept, three.Dir())
	}

	require.NoError(t, os.RemoveAll(three.Dir()))
	three.Restart()
	_, err := three.Coordinator().Acquire(soon(t), "job")
	require.ErrorIs(t, err, coordinator.ErrUnavailable)
	require.ErrorContains(t, err, "has to let this new directory in")
	require.NoError(t, three.Coordinator().Status().Err, "nobody has refused it yet")
}
