package coordinator_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

// The leader dies at each point between the proposing of an acquire and its
// answer. The next leader says whether there is a grant, and no other grant has
// its token.
func TestS25ATokenIsNotIssuedTwiceAcrossACrash(t *testing.T) {
	t.Parallel()
	for _, crash := range []struct {
		name  string
		asks  int // the node of the client
		fault func(*locktest.Cluster)
		// reached waits until the crash is due, and reports whether it is at this
		// point: an election may have come between. retries is how often node 1
		// had asked again before.
		reached func(t *testing.T, c *locktest.Cluster, first *inLine, retries uint64) bool
		granted bool // the next leader has the grant
	}{
		{"NotReplicated", 1, func(c *locktest.Cluster) { c.Isolate(1) },
			func(t *testing.T, c *locktest.Cluster, first *inLine, _ uint64) bool {
				dropped := func() uint64 { return c.Traffic(1, 2).Dropped + c.Traffic(1, 3).Dropped }
				require.NoError(t, c.Await(patient(t), "the acquire to get lost", func() bool { return dropped() > 4 }))
				return !first.answered()
			}, false},
		{"ReplicatedAndNotKnownToBe", 1, func(c *locktest.Cluster) { c.BlackHole(2, 1); c.BlackHole(3, 1) },
			func(t *testing.T, c *locktest.Cluster, first *inLine, retries uint64) bool {
				// An attempt lasts for an election timeout, and by then the
				// entry is with the others.
				require.NoError(t, c.Await(patient(t), "another attempt", func() bool {
					return c.Node(1).Coordinator().Status().Retries > retries
				}))
				return !first.answered() && c.Traffic(2, 1).Dropped+c.Traffic(3, 1).Dropped > 0
			}, true},
		{"CommittedAndNotAnswered", 3, func(c *locktest.Cluster) { c.BlackHole(1, 3) },
			func(t *testing.T, c *locktest.Cluster, first *inLine, _ uint64) bool {
				require.NoError(t, c.Await(patient(t), "the grant", func() bool {
					info, err := c.Node(2).Coordinator().Inspect(patient(t), "key")
					return err == nil && info.Holder != nil
				}))
				return !first.answered() && c.Traffic(1, 3).Dropped > 0
			}, true},
		{"Answered", 1, func(*locktest.Cluster) {},
			func(_ *testing.T, _ *locktest.Cluster, first *inLine, _ uint64) bool {
				first.granted()
				return true
			}, true},
	} {
		t.Run(crash.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, 3)
			last := token.Token(0)
			later := func(tok token.Token, grant string) {
				t.Helper()
				require.Greater(t, tok, last, grant)
				last = tok
			}
			// again, if an election of others came between
			for tries := 1; ; tries++ {
				later(acquireAndRelease(t, c, 1), "one before")
				require.NoError(t, c.MoveLeader(patient(t), "key", 1))
				changes, retries := c.Faults().LeaderChanges, c.Node(1).Coordinator().Status().Retries
				crash.fault(c)
				first := ask(t, c.Node(crash.asks), "key")
				there := crash.reached(t, c, first, retries)
				c.Node(1).Kill()
				c.Heal()
				require.NoError(t, c.WaitReady(patient(t)), "the others have applied what there is")
				require.Greater(t, c.Faults().LeaderChanges, changes)

				holder := inspect(t, c.Node(2), "key").Holder
				if holder != nil {
					later(holder.Token, "the grant that the next leader has")
				}
				second := ask(t, c.Node(2), "key", coordinator.WithTTL(longer))
				if crash.asks != 1 {
					require.NotNil(t, holder)
					require.Equal(t, holder.Token, first.granted().Token(), "its client lives")
					release(t, first.lease)
				} else {
					letPass(t, c, 2*long, 2, 3)
				}
				later(second.granted().Token(), "the next")
				<-first.done
				if first.lease != nil {
					require.NotNil(t, holder)
					require.Equal(t, holder.Token, first.lease.Token(), "what the client was told")
				}
				release(t, second.lease)
				c.Node(1).Restart()
				later(acquireAndRelease(t, c, 1), "one after")
				if there && crash.granted == (holder != nil) {
					return
				}
				require.Less(t, tries, 10, "the crash never came at this point")
			}
		})
	}
	t.Run("AtAnyMomentUnderLoad", func(t *testing.T) {
		t.Parallel()
		c := newCluster(t, 3)
		random := newRandom(t)
		last := token.Token(0)
		for range 4 {
			require.NoError(t, c.MoveLeader(patient(t), "key", 1))
			work := &shortHolds{node: c.Node(1), begun: make(chan struct{}), ended: make(chan struct{})}
			go work.run(patient(t))
			<-work.begun
			crashed := make(chan struct{})
			time.AfterFunc(time.Duration(random.IntN(100_000))*time.Microsecond, func() {
				defer close(crashed)
				c.Node(1).Kill()
			})
			<-crashed
			<-work.ended
			require.NoError(t, c.WaitReady(patient(t)), "the others have applied what there is")
			letPass(t, c, 2*long, 2, 3)
			second := acquire(t, c.Node(2), "key", coordinator.WithTTL(longer))
			for _, tok := range append(work.tokens, second.Token()) {
				require.Greater(t, tok, last, "after %d grants", len(work.tokens))
				last = tok
			}
			release(t, second)
			c.Node(1).Restart()
			require.NoError(t, c.WaitReady(patient(t)))
		}
	})
}

// shortHolds takes a key and gives it back until its node has gone.
type shortHolds struct {
	node   *locktest.Node
	begun  chan struct{} // closed when the first has been granted
	ended  chan struct{} // closed when the node has gone
	tokens []token.Token // in the order of the grants; to be read after that
}

func (h *shortHolds) run(ctx context.Context) {
	defer close(h.ended)
	c := h.node.Coordinator()
	for {
		lease, err := c.Acquire(ctx, "key")
		if err != nil {
			return
		}
		if h.tokens = append(h.tokens, lease.Token()); len(h.tokens) == 1 {
			close(h.begun)
		}
		_ = lease.Release(ctx) // fails when the node goes
	}
}

// acquireAndRelease returns the token of a grant that has ended.
func acquireAndRelease(t *testing.T, c *locktest.Cluster, node int) token.Token {
	t.Helper()
	lease := acquire(t, c.Node(node), "key")
	release(t, lease)
	return lease.Token()
}
