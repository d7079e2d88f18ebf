package coordinator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/token"
)

func TestReleaseAsyncWaitsForNothing(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	lease := acquire(t, c.Node(1), "key")
	set, err := c.Node(1).Coordinator().AcquireAll(patient(t), []string{"one", "two"})
	require.NoError(t, err)
	c.Isolate(1)
	require.NoError(t, lease.ReleaseAsync())
	require.ErrorIs(t, lease.Err(), coordinator.ErrReleased)
	require.Equal(t, coordinator.Releasing, lease.State(), "nobody can have confirmed it")
	<-lease.Done()
	require.NoError(t, set.ReleaseAsync())
	require.Equal(t, coordinator.Releasing, set.State())
	require.NoError(t, lease.ReleaseAsync(), "a second one")

	c.Heal()
	require.NoError(t, c.Await(patient(t), "the confirmation", func() bool {
		return lease.State() == coordinator.Released && set.State() == coordinator.Released
	}))
	require.NoError(t, lease.Release(patient(t)))
	awaitNothingLeft(t, c)
}

// A node that tries for a key behind its own ReleaseAsync gets it, also when the
// leader changes in between.
func TestReleaseAsyncKeepsTheOrderOfItsNode(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	var last token.Token
	for n := range 100 {
		lease, err := try(t, c.Node(1), "key")
		require.NoError(t, err, "round %d", n)
		require.Greater(t, lease.Token(), last)
		last = lease.Token()
		require.NoError(t, lease.ReleaseAsync())
		if n%10 == 0 {
			require.NoError(t, c.MoveLeader(patient(t), "key", 1+n/10%3))
		}
	}
}

func TestShutdownWaitsForTheConfirmationOfReleaseAsync(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	lease := acquire(t, c.Node(1), "key")
	require.NoError(t, lease.ReleaseAsync())
	require.NoError(t, c.Node(1).Coordinator().Shutdown(patient(t)))
	require.Equal(t, coordinator.Released, lease.State())
	_, err := try(t, c.Node(2), "key")
	require.NoError(t, err)
}

func TestReleaseAsyncOfWhatIsNotHeld(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	lost := acquire(t, c.Node(1), "key")
	advance(c, long, 1)
	require.False(t, lost.Held())
	var none *coordinator.Lease
	var nothing *coordinator.LeaseSet
	for name, releaseAsync := range map[string]func() error{
		"a lost lease": lost.ReleaseAsync, "no lease": none.ReleaseAsync, "an empty lease": new(coordinator.Lease).ReleaseAsync,
		"no set": nothing.ReleaseAsync, "an empty set": new(coordinator.LeaseSet).ReleaseAsync,
	} {
		err := releaseAsync()
		require.ErrorIs(t, err, coordinator.ErrLeaseLost, name)
		require.ErrorContains(t, err, "ReleaseAsync", name)
		require.Equal(t, coordinator.NotApplied, outcomeOf(t, err), name)
	}
	released := acquire(t, c.Node(1), "other")
	require.NoError(t, released.Release(context.Background()))
	require.NoError(t, released.ReleaseAsync())
}
