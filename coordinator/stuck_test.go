package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/coordinator/internal/hub"
	"github.com/palisade-go/palisade/coordinator/internal/inject"
	"github.com/palisade-go/palisade/coordinator/internal/raftnode"
	"github.com/palisade-go/palisade/statemachine"
)

// manualClock stands still until it is moved.
type manualClock struct{ now atomic.Int64 }

func (c *manualClock) Now() clock.Instant { return clock.Instant(c.now.Load()) }

// leaderless is a log without a leader: it refuses all that is proposed, or
// takes it and gives no answer.
type leaderless struct {
	silent   bool
	proposed *atomic.Int64
}

func (l leaderless) Propose(_ statemachine.GroupID, _ []byte, _ time.Duration, done func(error)) {
	l.proposed.Add(1)
	if !l.silent {
		done(errors.New("no leader"))
	}
}

// plug gives a group another log, and returns the one it had.
func (g *group) plug(p proposer) (before proposer) {
	plugged := make(chan struct{})
	g.mail.put(func(*hub.Hub, clock.Instant) {
		before, g.proposer = g.proposer, p
		close(plugged)
	})
	<-plugged
	return before
}

// The case asks for 500 sessions: 500 leases of one node, in eight groups of
// which one has no leader for five TTLs.
func TestS68AGroupThatIsStuckCostsNoOtherItsLeases(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"WithRefusals": false, "WithoutAnswers": true} {
		t.Run(name, func(t *testing.T) {
			const count, ttl = 500, 2 * time.Second
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			now := &manualClock{}
			c, err := Open(inject.With(ctx, inject.Env{Clock: now}), Config{Dir: t.TempDir(), Groups: 8, TTL: ttl})
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			leases := make([]*Lease, count)
			eachOf(t, 0, count, func(i int) (err error) {
				leases[i], err = c.Acquire(ctx, fmt.Sprintf("key-%d", i))
				return err
			})
			stuck, healthy := c.groups[0], c.groups[1:]
			var proposed atomic.Int64
			log := stuck.plug(leaderless{silent, &proposed})
			for range 20 {
				now.now.Add(int64(ttl / 4))
				for _, g := range healthy {
					require.Eventually(t, func() bool { return g.heardAt() == now.Now() }, time.Minute, time.Millisecond, "group %d is renewed", g.id)
				}
				lease, err := c.Acquire(ctx, keyOf(c, healthy[0]))
				require.NoError(t, err)
				require.NoError(t, lease.Release(ctx))
			}
			require.NotZero(t, proposed.Load())
			lost := uint64(0)
			for _, lease := range leases {
				if c.groupOf(lease.Key()) != stuck {
					require.NoError(t, lease.Err())
					continue
				}
				lost++
				<-lease.Done()
				require.ErrorIs(t, lease.Err(), ErrLeaseLost)
			}
			require.NotZero(t, lost)
			require.Equal(t, lost, c.Status().LostWindow)

			stuck.plug(log)
			stuck.Leader(raftnode.LeaderInfo{Leader: 1, Term: 2})
			lease, err := c.Acquire(ctx, keyOf(c, stuck))
			require.NoError(t, err, "with a leader the group is as before")
			require.NoError(t, lease.Release(ctx))
		})
	}
}

// keyOf returns a key of a group.
func keyOf(c *Coordinator, g *group) string {
	for i := 0; ; i++ {
		if key := fmt.Sprintf("of-%d", i); c.groupOf(key) == g {
			return key
		}
	}
}
