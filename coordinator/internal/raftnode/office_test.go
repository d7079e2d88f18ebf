package raftnode

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

// expired returns when a lease ended by expiry, as told to a Sink, or false.
func (r *recorder) expired(id statemachine.LeaseID) bool {
	return r.find(func(e statemachine.Event) bool {
		ended, ok := e.(statemachine.Ended)
		return ok && ended.Lease == id && ended.Reason == statemachine.EndExpired
	})
}

func TestOffice(t *testing.T) {
	const ttl = 4 * election

	t.Run("ExpiresTheLeasesOfADeadNodeAndNotBeforeTheirTime", func(t *testing.T) {
		c := start(t, 3)
		leader := c.leader(1)
		dead := c.other(leader)
		id := dead.acquire(1, "k", ttl)
		applied := time.Now()
		dead.stop()
		sink := leader.sinks[0]
		sink.await(t, "the expiry", func() bool { return sink.expired(id) })
		// The leader applied the last batch before the dead node knew of it,
		// so the time is measured a little late; a fault would be gross.
		require.GreaterOrEqual(t, time.Since(applied), ttl-election)
		require.NotZero(t, c.sum(expiriesProposed))
		require.NotZero(t, leader.node.Stats(1).Offices)
	})

	t.Run("LeavesAloneWhoIsHeardFrom", func(t *testing.T) {
		clocks, c := startSkewed(t, 3)
		alive := c.other(c.leader(1))
		id := alive.acquire(1, "k", time.Hour)
		c.everywhere(1) // before the clocks move
		for range 24 {  // three TTLs, in steps that are no stall
			clocks.ahead(time.Hour / 8)
			alive.send(1)
		}
		require.False(t, alive.sinks[0].expired(id))
		require.Zero(t, c.sum(expiriesProposed))
	})

	t.Run("IsTakenByTheNextLeaderWhichEndsTheLeasesOfTheDeadOne", func(t *testing.T) {
		c := start(t, 3)
		dead := c.leader(1)
		id := dead.acquire(1, "k", ttl)
		dead.stop()
		left := c.other(dead)
		sink := left.sinks[0]
		sink.await(t, "the expiry", func() bool { return sink.expired(id) })
		next := c.leader(1)
		require.NotEqual(t, dead.id, next.id)
		require.NotZero(t, c.sum(func(s Stats) uint64 { return s.Offices }))
		require.NotZero(t, c.sum(expiriesProposed))
	})

	t.Run("SweepsWhatAnEarlierIncarnationLeft", func(t *testing.T) {
		c := start(t, 3)
		p := c.other(c.leader(1))
		id := p.acquire(1, "k", time.Hour)
		p.stop()
		require.NoError(t, p.start())
		p.send(1)
		sink := p.sinks[0]
		sink.await(t, "the sweep", func() bool {
			return sink.find(func(e statemachine.Event) bool {
				ended, ok := e.(statemachine.Ended)
				return ok && ended.Lease == id && ended.Reason == statemachine.EndSwept
			})
		})
		require.NotZero(t, c.sum(func(s Stats) uint64 { return s.SweepsProposed }))
	})

	t.Run("EndsALeaseAtItsLimit", func(t *testing.T) {
		p := start(t, 1).peers[1]
		p.send(1, statemachine.Acquire{
			Seq: 1, Claims: []statemachine.Claim{{Key: "k", Mode: statemachine.Exclusive}}, TTL: time.Hour, Limit: election,
		})
		p.sinks[0].awaitEvent(t, statemachine.Ended{
			Lease: statemachine.LeaseID{Node: 1, Incarnation: 1, Seq: 1}, Reason: statemachine.EndLimit,
		})
	})

	t.Run("EndsALeaseAtItsLimitAlsoAfterARestart", func(t *testing.T) {
		p := start(t, 1).peers[1]
		p.send(1, statemachine.Acquire{
			Seq: 1, Claims: []statemachine.Claim{{Key: "k", Mode: statemachine.Exclusive}}, TTL: time.Hour, Limit: ttl,
		})
		p.stop()
		restarted := time.Now()
		require.NoError(t, p.start())
		p.sinks[0].awaitEvent(t, statemachine.Ended{
			Lease: statemachine.LeaseID{Node: 1, Incarnation: 1, Seq: 1}, Reason: statemachine.EndLimit,
		})
		require.GreaterOrEqual(t, time.Since(restarted), ttl, "it starts anew")
	})

	t.Run("IsTakenAnewAfterAStallWhichCostsNobodyALease", func(t *testing.T) {
		clocks, c := startSkewed(t, 3, steady())
		leader := c.leader(1)
		holder := c.other(leader)
		id := holder.acquire(1, "k", time.Hour)
		c.everywhere(1) // before the clocks move
		offices := leader.node.Stats(1).Offices
		// Without the stall rule the lease is overdue in the leader's eyes.
		clocks[leader.id].ahead(70 * time.Minute)
		for deadline := time.Now().Add(patience); leader.node.Stats(1).Offices == offices; {
			require.Less(t, time.Now(), deadline)
			holder.pause(1)
		}
		require.Zero(t, leader.node.Stats(1).ExpireProposed)
		// It is let go when its time is really over.
		clocks[leader.id].ahead(14 * time.Minute)
		clocks[leader.id].ahead(14 * time.Minute)
		sink := leader.sinks[0]
		for over := false; !over; {
			clocks[leader.id].ahead(time.Minute)
			leader.pause(1)
			sink.mu.Lock()
			over = sink.expired(id)
			sink.mu.Unlock()
		}
	})

	t.Run("ElectionsMoreOftenThanTDoNotKeepADeadNodeAlive", func(t *testing.T) {
		clocks, c := startSkewed(t, 3)
		dead := c.other(c.leader(1))
		id := dead.acquire(1, "k", time.Hour)
		dead.stop()
		c.everywhere(1) // before the clocks move
		for range 6 {   // in each third of the TTL, until twice the TTL has passed
			c.transfer(c.other(dead, c.leader(1)))
			clocks.ahead(time.Hour / 3)
		}
		sink := c.other(dead).sinks[0]
		sink.await(t, "the expiry", func() bool { return sink.expired(id) })
	})
}

// skews are the clocks of a cluster, by node.
type skews map[statemachine.NodeID]*skewed

// startSkewed starts a cluster whose clocks can be moved.
func startSkewed(t *testing.T, n int, options ...option) (skews, *cluster) {
	clocks := make(skews)
	c := newCluster(t, n, options...)
	change := c.change
	c.change = func(cfg *Config) {
		change(cfg)
		clocks[cfg.Node] = &skewed{}
		cfg.Clock = clocks[cfg.Node]
	}
	for _, id := range c.members {
		require.NoError(t, c.peers[id].start())
	}
	return clocks, c
}

// ahead moves all clocks.
func (s skews) ahead(d time.Duration) {
	for _, one := range s {
		one.ahead(d)
	}
}

// skewed is the system's clock, moved ahead by the test.
type skewed struct{ by atomic.Int64 }

func (s *skewed) Now() clock.Instant { return clock.System{}.Now().Add(time.Duration(s.by.Load())) }

func (s *skewed) ahead(d time.Duration) { s.by.Add(int64(d)) }
