package locktest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/transport"
)

func TestFaultsOfTheNetwork(t *testing.T) {
	c := locktest.New(t, 3)
	ctx := patient(t)
	// Most of the traffic is between a leader and the others.
	require.NoError(t, c.MoveLeader(ctx, "key", 1))
	met := func(t *testing.T, what string, from, to int, count func(transport.Stats) uint64) {
		t.Helper()
		before := count(c.Traffic(from, to))
		require.NoError(t, c.Await(ctx, what, func() bool { return count(c.Traffic(from, to)) > before }))
		c.Heal()
	}
	t.Run("Cut", func(t *testing.T) {
		c.Cut(1, 2)
		require.NotZero(t, c.Traffic(1, 2).LinksBroken)
		met(t, "a dial that is refused", 1, 2, func(s transport.Stats) uint64 { return s.DialsRefused })
		require.Zero(t, c.Traffic(2, 1).LinksBroken)
	})
	t.Run("BlackHole", func(t *testing.T) {
		c.BlackHole(2, 1)
		met(t, "a frame that is lost", 2, 1, func(s transport.Stats) uint64 { return s.Dropped })
	})
	t.Run("Delay", func(t *testing.T) {
		c.Delay(1, 3, time.Millisecond, 2*time.Millisecond)
		met(t, "a frame that is late", 1, 3, func(s transport.Stats) uint64 { return s.Delayed })
	})
	t.Run("Drop", func(t *testing.T) {
		c.Drop(3, 1, 0.5)
		met(t, "a frame that is lost", 3, 1, func(s transport.Stats) uint64 { return s.Dropped })
	})
	t.Run("Duplicate", func(t *testing.T) {
		c.Duplicate(1, 3, 0.5)
		met(t, "a frame that comes twice", 1, 3, func(s transport.Stats) uint64 { return s.Duplicated })
	})
	t.Run("Isolate", func(t *testing.T) {
		c.Isolate(2)
		_, err := c.Node(2).Coordinator().TryAcquire(ctx, "key")
		require.ErrorIs(t, err, coordinator.ErrUnavailable)
		_, err = c.Node(1).Coordinator().Acquire(ctx, "key")
		require.NoError(t, err, "the majority goes on")
	})
	t.Run("HealEndsThemAll", func(t *testing.T) {
		c.Heal()
		require.NoError(t, c.WaitReady(ctx))
		require.NoError(t, c.WaitEqualDumps(ctx))
	})
	t.Run("ThereIsNoNodeBeyondTheLast", func(t *testing.T) {
		r := run(t, func(t testing.TB) { locktest.New(t, 1).Cut(1, 2) })
		require.Contains(t, r.text(), "node 2 of a cluster of 1")
	})
}
