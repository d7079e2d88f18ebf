package coordinator_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

// Nodes that are closed in the midst of something. A session of the cases is
// what a node has in the groups: its presence, its leases and its places in
// line. It ends with Close.

// S114: a node without a quorum is closed. Whatever Close still waits for, the
// leases end at once.
func TestS114ClosingWithoutAQuorum(t *testing.T) {
	t.Parallel()
	t.Run("AShutdownKeepsToItsContext", func(t *testing.T) {
		c := newCluster(t, 3)
		lease := acquire(t, c.Node(1), "key")
		c.Isolate(1)
		ctx, cancel := context.WithTimeout(context.Background(), locktest.ElectionTimeout*3/4)
		defer cancel()
		node := c.Node(1).Coordinator()
		err := within(t, func() error { return node.Shutdown(ctx) })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		requireOpen(t, lease)
		require.NoError(t, within(t, node.Close))
		require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)
		require.NoError(t, within(t, node.Close))
		require.NoError(t, within(t, func() error { return node.Shutdown(ctx) }), "there is nothing to wait for any more")
		awaitCut(t, c, 1)
	})
	t.Run("TheLeasesEndBeforeTheGroupsAreTold", func(t *testing.T) {
		// The engine is held up, so Close can't get any further than that.
		b := newBare(t, false)
		var stuck atomic.Bool
		held, free := make(chan struct{}), make(chan struct{})
		node := b.open(1, inject.Env{Moved: func() {
			if stuck.CompareAndSwap(true, false) {
				close(held)
				<-free
			}
		}})
		others := []*coordinator.Coordinator{b.open(2, inject.Env{}), b.open(3, inject.Env{})}
		lease, err := node.Acquire(patient(t), "key")
		require.NoError(t, err)
		stuck.Store(true)
		b.network.Isolate(b.peers[1])
		<-held // it has noticed that the leader is gone
		closed := make(chan error, 1)
		go func() { closed <- node.Close() }()
		awaitEnd(t, lease)
		require.ErrorIs(t, lease.Err(), coordinator.ErrClosed)
		requireAllClosed(t, everyCall(patient(t), node, "key"))
		select {
		case err := <-closed:
			require.FailNow(t, "Close did not wait for the engine", "%v", err)
		default:
		}
		close(free)
		require.NoError(t, <-closed)
		b.network.HealAll()
		stopAll(t, others, (*coordinator.Coordinator).Close)
	})
}

// S115: a node is asked for a snapshot after every entry, is closed at a random
// moment, and opened again.
func TestS115CloseWhileASnapshotIsBeingTaken(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, locktest.WithSnapshotEntries(1))
	n, random := c.Node(1), newRandom(t)
	last := token.Token(0)
	const rounds = 8
	for round := range rounds {
		enough := make(chan struct{})
		left := atomic.Int64{}
		left.Store(1 + random.Int64N(60))
		node := n.Coordinator()
		loaded := make(chan struct{})
		go func() {
			defer close(loaded)
			parallel(4, func(i int) {
				for {
					lease, err := node.Acquire(context.Background(), fmt.Sprint("key ", i))
					if err != nil {
						return // it is closed
					}
					if left.Add(-1) == 0 {
						close(enough)
					}
					_ = lease.Release(context.Background())
				}
			})
		}()
		<-enough
		n.Close() // fails the test if it does not return, or returns an error
		<-loaded
		n.Restart()
		lease := acquire(t, n, "key 0")
		require.Greater(t, lease.Token(), last, "round %d", round)
		last = lease.Token()
		release(t, lease)
	}
	require.Greater(t, n.Faults().SnapshotsCreated, uint64(2*rounds))
	awaitNothingLeft(t, c)
}

// S119: the holders of many keys release them at the moment at which the node
// of those who are next is closed. Nobody is left who owns the next turn.
func TestS119AReleaseMeetsTheCloseOfTheNext(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	const rounds, keys, most = 4, 40, 50
	random := newRandom(t)
	first, turns := 0, 0 // first came before the close
	for round := 0; round < rounds || first == 0 || first == turns; round++ {
		require.Less(t, round, most, "of %d turns %d came before a close", turns, first)
		turns += keys
		var leases []*coordinator.Lease
		var next, third []*inLine
		for i := range keys {
			key := fmt.Sprintf("key %d", i)
			leases = append(leases, acquire(t, c.Node(1), key))
			next = append(next, ask(t, c.Node(2), key))
		}
		awaitWaits(t, c, keys)
		for i := range keys {
			third = append(third, ask(t, c.Node(3), fmt.Sprintf("key %d", i)))
		}
		awaitWaits(t, c, 2*keys)

		// It is closed when so many are released, and the rest is under way.
		node, at := c.Node(2).Coordinator(), 1+random.Int64N(keys/2)
		var released atomic.Int64
		now := make(chan struct{})
		parallel(keys+1, func(i int) {
			if i == keys {
				<-now
				_ = node.Close() // Node.Close has the error
				return
			}
			if err := leases[i].Release(patient(t)); err != nil {
				t.Errorf("release: %v", err)
			}
			if released.Add(1) == at {
				close(now)
			}
		})
		c.Node(2).Close()
		for i, l := range next {
			<-l.done
			if l.err != nil {
				require.ErrorIs(t, l.err, coordinator.ErrClosed)
				continue
			}
			first++
			require.ErrorIs(t, l.lease.Err(), coordinator.ErrClosed, "key %d", i)
		}
		for _, l := range third {
			release(t, l.granted())
		}
		require.Zero(t, c.Faults().ExpiriesProposed, "round %d: without waiting for an expiry", round)
		c.Node(2).Restart()
		require.NoError(t, c.WaitReady(patient(t)))
		awaitNothingLeft(t, c)
	}
	t.Logf("%d of %d turns came before the close", first, turns)
}

// awaitWaits waits until so many requests are in line in all groups together.
func awaitWaits(t *testing.T, c *locktest.Cluster, n int) {
	t.Helper()
	require.NoError(t, c.Await(patient(t), "the queues", func() bool {
		waits := 0
		for _, g := range c.Node(1).Coordinator().Status().Groups {
			waits += g.Waits
		}
		return waits == n
	}))
}
