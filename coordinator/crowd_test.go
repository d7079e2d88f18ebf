package coordinator_test

import (
	"context"
	"flag"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/statemachine"
)

// Many leases and many waits at once. A session of the cases is a lease here:
// a node renews all that it has in a group with one batch.

// crowd makes the test of a new leader take as many leases as the case asks
// for, which takes about a minute on two processors.
var crowd = flag.Bool("crowd", false, "take 200,000 leases in the test of a new leader")

// holdMany lets a node take that many keys of one group.
func holdMany(t *testing.T, n *locktest.Node, tag string, count int, ttl func(i int) time.Duration) []*coordinator.Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*patience)
	defer cancel()
	const workers = 256
	leases, errs := make([]*coordinator.Lease, count), make([]error, workers)
	var next atomic.Int64
	parallel(workers, func(worker int) {
		for i := int(next.Add(1)) - 1; i < count && errs[worker] == nil; i = int(next.Add(1)) - 1 {
			leases[i], errs[worker] = n.Coordinator().Acquire(ctx, fmt.Sprintf("{%s}%d-%d", tag, n.Number(), i), coordinator.WithTTL(ttl(i)))
		}
	})
	for _, err := range errs {
		require.NoError(t, err)
	}
	return leases
}

// groupOn returns what a node knows of the group of a key.
func groupOn(c *locktest.Cluster, node int, key string) coordinator.GroupStatus {
	return c.Node(node).Coordinator().Status().Groups[c.Group(key)-1]
}

func TestS52ManyLeasesExpireInTheSameMoment(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	const count, ttl = 10_000, long
	require.NoError(t, c.MoveLeader(ctx, "key", 3))
	living := acquire(t, c.Node(2), "{key}living", coordinator.WithTTL(longer))
	holdMany(t, c.Node(1), "key", count, func(int) time.Duration { return ttl })
	require.NoError(t, c.Await(ctx, "all leases to be known", func() bool { return groupOn(c, 3, "key").Leases == count+1 }))
	c.Node(1).Kill()
	term := groupOn(c, 3, "key").Term

	// A client that takes and gives back all the while. Each of its batches
	// renews what its node has.
	var rounds, slowest atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			began := time.Now()
			lease, err := c.Node(2).Coordinator().Acquire(ctx, "{key}client", coordinator.WithTTL(longer))
			if err != nil {
				t.Errorf("acquire: %v", err)
				return
			}
			if err := lease.Release(ctx); err != nil {
				t.Errorf("release: %v", err)
			}
			slowest.Store(max(slowest.Load(), int64(time.Since(began))))
			rounds.Add(1)
		}
	}()
	require.NoError(t, c.Await(ctx, "the client to be at work", func() bool { return rounds.Load() > 0 }))
	began, before := time.Now(), rounds.Load()
	// The clocks stand still then, so that no expiry is proposed again because
	// time has passed: what a slice leaves is asked for as soon as that has ended.
	for _, n := range []int{2, 3} {
		c.Node(n).Clock().Freeze()
	}
	letPass(t, c, 2*ttl, 2, 3)
	left := func() int { return groupOn(c, 2, "key").Leases }
	repeats := 0 // of a proposal that a busy machine has dropped
	for now := left(); now > 2; now = left() {
		round, cancel := context.WithTimeout(ctx, 2*steadyElection)
		if c.Await(round, "leases of the dead to end", func() bool { return left() < now }) != nil {
			repeats++
			advance(c, 2*steadyElection, 2, 3)
		}
		cancel()
		require.LessOrEqual(t, repeats, count/statemachine.SliceMax/3, "%d leases are left", left())
	}
	took, during := time.Since(began), rounds.Load()-before
	require.NoError(t, c.Await(ctx, "the client to go on", func() bool { return rounds.Load() > before+during+1 }))
	close(stop)
	<-stopped
	t.Logf("%d leases ended in %v, with %d rounds of the client meanwhile, the slowest of all %v", count, took, during, time.Duration(slowest.Load()))
	// How long a round takes is a matter of the machine: this is only there so
	// that a group which stands still does not pass.
	require.Less(t, time.Duration(slowest.Load()), 10*steadyElection, "a round of two entries")
	requireOpen(t, living)
	require.Equal(t, term, groupOn(c, 3, "key").Term, "an election")
	// One entry for each slice, and what was repeated.
	proposed := c.Faults().ExpiriesProposed
	require.GreaterOrEqual(t, proposed, uint64(count/statemachine.SliceMax))
	require.LessOrEqual(t, proposed, uint64(3*count/statemachine.SliceMax))
}

// By default with a tenth of the leases that the case asks for. They have a
// thousand different TTLs.
func TestS53ANewLeaderOfVeryManyLeases(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	count := 20_000
	if *crowd {
		count = 200_000
	}
	require.NoError(t, c.MoveLeader(ctx, "key", 3))
	ttl := func(i int) time.Duration { return long + time.Duration(i%1000)*time.Second }
	var leases []*coordinator.Lease
	for node := 1; node <= 2; node++ {
		leases = append(leases, holdMany(t, c.Node(node), "key", count/2, ttl)...)
	}
	require.NoError(t, c.Await(ctx, "all leases to be known", func() bool { return groupOn(c, 1, "key").Leases == count }))
	require.Equal(t, 3, c.Leader("key"))
	term := groupOn(c, 1, "key").Term

	for _, node := range []int{1, 2} {
		require.NoError(t, c.Node(node).Coordinator().WaitReady(ctx))
	}
	began, applied := time.Now(), groupOn(c, 1, "key").Applied
	c.Node(3).Kill()
	killed := time.Since(began)
	release(t, acquire(t, c.Node(1), "{key}after"))
	back := time.Since(began)
	entries := groupOn(c, 1, "key").Applied - applied
	t.Logf("%d leases: the leader was gone after %v, the first acquire back after %v and %d entries", count, killed, back, entries)
	elections := awaitElection(t, c, 1, "key", term)
	require.LessOrEqual(t, elections, uint64(2))
	// Each node is heard of once, with all that it has, and again when a batch is
	// sent again.
	require.Less(t, entries, uint64(count/200))

	// It is in office: what ends now is let go.
	require.Zero(t, c.Faults().ExpiriesProposed)
	for _, lease := range leases {
		require.NoError(t, lease.Err())
	}
	limited := acquire(t, c.Node(1), "{key}limited", coordinator.WithMaxHold(long/2))
	next := ask(t, c.Node(2), "{key}limited")
	awaitLine(t, c, c.Node(2), "{key}limited", 1)
	letPass(t, c, long/2, 1, 2)
	require.Greater(t, next.granted().Token(), limited.Token())
	// How long an election takes is a matter of the machine: this is only there so
	// that a leader which looks at its leases before it works does not pass.
	require.Less(t, time.Since(began), 10*steadyElection)
	require.Equal(t, elections, groupOn(c, 1, "key").Term-term, "the new leader stays")
}

func TestS81AReleaseCostsTheSameHoweverManyWait(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	const waiters, releases = 1000, 200
	ctx, leave := context.WithCancel(patient(t))
	defer leave()
	lease := acquire(t, c.Node(2), "key")
	granted := make(chan *coordinator.Lease, waiters)
	done := make(chan struct{})
	go func() {
		defer close(done)
		parallel(waiters, func(i int) {
			l, err := c.Node(i%3+1).Coordinator().Acquire(ctx, "key")
			if err == nil {
				granted <- l
			} else if ctx.Err() == nil {
				t.Errorf("acquire: %v", err)
			}
		})
	}()
	awaitLine(t, c, c.Node(1), "key", waiters)
	frames := func() (sent uint64) {
		for _, link := range [][2]int{{1, 2}, {1, 3}, {2, 1}, {2, 3}, {3, 1}, {3, 2}} {
			sent += c.Traffic(link[0], link[1]).Sent
		}
		return sent
	}
	index, sent := groupOn(c, 2, "key").Applied, frames()
	for range releases {
		release(t, lease)
		lease = <-granted
		require.Empty(t, granted, "one release has served two")
	}
	index, sent = groupOn(c, 2, "key").Applied-index, frames()-sent
	leave()
	<-done
	t.Logf("%d releases with %d in line: %d entries, %d frames", releases, waiters, index, sent)
	// One entry each, and one that is sent again may add another. The frames are
	// those of the entries and the heartbeats; one for each in line would be ten
	// times more.
	require.LessOrEqual(t, index, uint64(releases*5/4))
	require.Less(t, sent, uint64(releases*waiters/10))
	release(t, lease)
	awaitNothingLeft(t, c)
}
