package coordinator_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// Each acquire is its own owner, and its handle is its own.

func TestS103TheSameNodeTwiceIsTwoOwners(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	first := acquire(t, c.Node(1), "key")
	second := ask(t, c.Node(1), "key")
	awaitLine(t, c, c.Node(1), "key", 1)
	second.waits()
	release(t, first)
	lease := second.granted()
	require.Greater(t, lease.Token(), first.Token())
	require.NoError(t, first.Release(patient(t)))
	requireOpen(t, lease)
	require.ErrorIs(t, first.Err(), coordinator.ErrReleased)
}

// A TTL belongs to its lease: what the same node has of the same group for
// shorter, on another key or in line for the same one, ends alone. The nested
// acquire of the case is the one in line.
func TestS104AShorterTTLBesideALongerOneEndsAlone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	const outerTTL = 5 * long
	outer := acquire(t, c.Node(1), "key", coordinator.WithTTL(outerTTL))
	left := outer.Remaining()
	beside := acquire(t, c.Node(1), "{key}beside")
	require.Greater(t, outer.Remaining(), left-long, "the shorter TTL is not the outer one's")
	inner := ask(t, c.Node(1), "key")
	awaitLine(t, c, c.Node(1), "key", 1)
	next := ask(t, c.Node(2), "key", coordinator.WithTTL(longer))
	awaitLine(t, c, c.Node(2), "key", 2)
	heir := ask(t, c.Node(2), "{key}beside", coordinator.WithTTL(longer))
	awaitLine(t, c, c.Node(2), "{key}beside", 1)
	_, err := c.Node(1).Coordinator().Acquire(outer.Context(), "key")
	require.ErrorIs(t, err, coordinator.ErrWouldDeadlock, "nested for certain")

	// To the holder.
	c.Isolate(1)
	advance(c, long, 1)
	require.ErrorIs(t, beside.Err(), coordinator.ErrLeaseLost)
	require.ErrorIs(t, inner.failed(), coordinator.ErrUnavailable)
	requireOpen(t, outer)

	// To the group.
	letPass(t, c, 2*long, 2, 3)
	require.Greater(t, heir.granted().Token(), beside.Token())
	awaitLine(t, c, c.Node(2), "key", 1) // the one in line has gone too
	require.Equal(t, outer.Token(), inspect(t, c.Node(3), "key").Holder.Token)
	next.waits()
	advance(c, outerTTL, 1)
	require.False(t, outer.Held())
	letPass(t, c, 2*outerTTL, 2, 3)
	require.Greater(t, next.granted().Token(), outer.Token())
	require.NotZero(t, c.Faults().ExpiriesProposed)
}

// The case asks for ten seconds: here are 8 times 150 rounds.
func TestS106OneVariableUsedByManyGoroutines(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	node := c.Node(1).Coordinator()
	var shared atomic.Pointer[coordinator.Lease]
	parallel(8, func(i int) {
		for range 150 {
			lease, err := node.Acquire(patient(t), "key")
			if err != nil || lease == nil {
				t.Errorf("acquire: %v, %v", lease, err)
				return
			}
			mine := lease.Token()
			shared.Store(lease)
			// Whoever's it is by now: it may be asked anything.
			other := shared.Load()
			_, _, _, _ = other.Held(), other.Token(), other.Remaining(), other.State()
			if i%2 == 0 {
				_ = other.Release(patient(t))
			}
			if lease.Token() != mine {
				t.Error("a lease has changed its token")
			}
			if err := lease.Release(patient(t)); err != nil {
				t.Errorf("release: %v", err)
			}
		}
	})
	awaitNothingLeft(t, c)
}

func TestANilLeaseIsLost(t *testing.T) {
	var none *coordinator.Lease
	var noSet *coordinator.LeaseSet
	for name, l := range map[string]interface {
		handle
		Key() string
	}{"nil": none, "empty": &coordinator.Lease{}} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, l.Key())
			requireLostHandle(t, l)
		})
	}
	require.Zero(t, none.Token())
	for name, s := range map[string]*coordinator.LeaseSet{"nilSet": noSet, "emptySet": {}} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, s.Keys())
			tok, ok := s.Token("key")
			require.Zero(t, tok)
			require.False(t, ok)
			requireLostHandle(t, s)
		})
	}
}
