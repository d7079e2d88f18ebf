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

// Time that passes by the clocks of nodes, and not by the machine's.

// advance moves the clocks of nodes.
func advance(c *locktest.Cluster, d time.Duration, nodes ...int) {
	for _, n := range nodes {
		c.Node(n).Clock().Advance(d)
	}
}

// letPass moves the clocks of nodes that have applied all that was committed, so
// that what they count from is before it. Each of them, the leader too, may be
// behind the owner of a lease, and count from later.
func letPass(t testing.TB, c *locktest.Cluster, d time.Duration, nodes ...int) {
	t.Helper()
	for _, n := range nodes {
		require.NoError(t, c.Node(n).Coordinator().WaitReady(patient(t)))
	}
	advance(c, d, nodes...)
}

// underLeader waits for what a leader does whose clock alone was moved. It makes
// the node the leader again if that has been elected away.
func underLeader(t testing.TB, c *locktest.Cluster, leader int, key string, done <-chan struct{}) {
	t.Helper()
	untilDone(t, done, func(ctx context.Context) { require.NoError(t, c.MoveLeader(ctx, key, leader)) })
}

// expireAtLeader waits for the end of a lease of long whose node lives, by a leader
// whose clock goes wrong by far: again and again, because a node renews after each
// change of leader.
func expireAtLeader(t testing.TB, c *locktest.Cluster, leader int, key string, done <-chan struct{}) {
	t.Helper()
	untilDone(t, done, func(ctx context.Context) {
		require.NoError(t, c.MoveLeader(ctx, key, leader))
		advance(c, 2*long, leader)
	})
}

// untilDone does something again and again, with time for its effect.
func untilDone(t testing.TB, done <-chan struct{}, do func(context.Context)) {
	t.Helper()
	for ctx := patient(t); ; {
		require.NoError(t, ctx.Err(), "in vain")
		do(ctx)
		round, cancel := context.WithTimeout(ctx, 2*steadyElection)
		select {
		case <-done:
		case <-round.Done():
		}
		ended := round.Err() == nil
		cancel()
		if ended {
			return
		}
	}
}

// passAt lets time pass by the clock of a leader alone: less than a quarter of
// long, which would be a stall. It returns when the leader has looked since then at
// the groups of the keys: what another node had in them until its limit has ended.
// A leader that is elected away meanwhile makes what is asserted after that less
// sharp, but not wrong.
func passAt(t *testing.T, c *locktest.Cluster, leader, other int, d time.Duration, keys ...string) {
	t.Helper()
	var limited []*coordinator.Lease
	for _, key := range keys {
		key = fmt.Sprintf("{%s}limited", key)
		limited = append(limited, acquire(t, c.Node(other), key, coordinator.WithTTL(longer), coordinator.WithMaxHold(long/10)))
	}
	letPass(t, c, d, leader)
	for _, lease := range limited {
		underLeader(t, c, leader, lease.Key(), lease.Done())
		require.ErrorContains(t, lease.Err(), "max hold")
	}
}
