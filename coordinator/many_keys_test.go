package coordinator_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// Several keys at once: all or none, and no deadlock.

// The case asks for 2,000 rounds: here 8 callers make 40 each.
func TestS84OppositeOrders(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	keys := []string{c.KeyIn(1, "a"), c.KeyIn(2, "b"), c.KeyIn(3, "c"), c.KeyIn(1, "d"), c.KeyIn(2, "e")}
	random := newRandom(t)
	const callers, rounds = 8, 40
	orders := make([][][]string, callers)
	for i := range orders {
		for range rounds {
			order := append([]string(nil), keys...)
			random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			orders[i] = append(orders[i], order)
		}
	}
	inside := make(chan struct{}, 1)
	parallel(callers, func(i int) {
		for _, order := range orders[i] {
			set, err := c.Node(i%3+1).Coordinator().AcquireAll(patient(t), order)
			if err != nil {
				t.Errorf("acquire %v: %v", order, err)
				return
			}
			select {
			case inside <- struct{}{}:
				<-inside
			default:
				t.Error("two have all keys at the same time")
			}
			if err := set.Release(patient(t)); err != nil {
				t.Errorf("release: %v", err)
			}
		}
	})
	awaitNothingLeft(t, c)
}

func TestS85AKeyNamedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	set, err := c.Node(1).Coordinator().AcquireAll(ctx, []string{"b", "a", "a", "b"})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, set.Keys())
	for _, key := range set.Keys() {
		tok, ok := set.Token(key)
		require.True(t, ok)
		require.NotZero(t, tok)
	}
	_, ok := set.Token("c")
	require.False(t, ok)
	require.NoError(t, set.Release(ctx))
	for _, key := range []string{"a", "b"} {
		_, err := try(t, c.Node(2), key)
		require.NoError(t, err)
	}
}

func TestS86AFailureHalfWayGivesEverythingBack(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	a, b, last := c.KeyIn(1, "a"), c.KeyIn(2, "b"), c.KeyIn(3, "c")
	acquire(t, c.Node(2), b)
	bounded, leave := context.WithCancel(ctx)
	defer leave()
	failed := make(chan error, 1)
	go func() {
		_, err := c.Node(1).Coordinator().AcquireAll(bounded, []string{last, b, a})
		failed <- err
	}()
	awaitLine(t, c, c.Node(1), b, 1) // it has a by now
	waiter := ask(t, c.Node(3), a)
	awaitLine(t, c, c.Node(1), a, 1)

	leave()
	err := <-failed
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "held by node 2", "it says what it was waiting for")
	require.NotNil(t, waiter.granted())
	_, err = try(t, c.Node(2), last)
	require.NoError(t, err)
	require.Empty(t, inspect(t, c.Node(2), b).Waiters)
}

func TestATryForSeveralKeysGetsAllOrNone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	ctx := patient(t)
	node := c.Node(1).Coordinator()
	free, taken := c.KeyIn(1, "free"), c.KeyIn(2, "taken")
	holder := acquire(t, c.Node(1), taken, coordinator.WithMetadata("the nightly run"))
	tryAll := func(ctx context.Context) (*coordinator.LeaseSet, error) {
		return node.TryAcquireAll(ctx, []string{free, taken})
	}
	_, err := answered(t, tryAll)
	var busy *coordinator.BusyError
	require.ErrorAs(t, err, &busy)
	require.Len(t, busy.Holders, 1)
	require.Equal(t, taken, busy.Holders[0].Key)
	require.Equal(t, coordinator.NodeID(1), busy.Holders[0].Node)
	require.Equal(t, holder.Token(), busy.Holders[0].Token)
	require.Equal(t, "the nightly run", busy.Holders[0].Metadata)
	require.Equal(t, coordinator.Unknown, outcomeOf(t, err), "what it got of the first group is only being given back")
	release(t, holder)
	set, err := answered(t, tryAll)
	require.NoError(t, err)
	require.NoError(t, set.Release(ctx))
	awaitNothingLeft(t, c)
}

func TestASetThatLosesAPartEndsAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	kept, lost := c.KeyIn(1, "kept"), c.KeyIn(2, "lost")
	require.NoError(t, c.MoveLeader(ctx, kept, 2))
	require.NoError(t, c.MoveLeader(ctx, lost, 3))
	set, err := c.Node(1).Coordinator().AcquireAll(ctx, []string{kept, lost})
	require.NoError(t, err)
	next := ask(t, c.Node(2), kept)
	awaitLine(t, c, c.Node(2), kept, 1)

	expireAtLeader(t, c, 3, lost, set.Done())
	require.ErrorIs(t, set.Err(), coordinator.ErrLeaseLost)
	require.False(t, set.Held())
	require.Equal(t, coordinator.Lost, set.State())
	require.Zero(t, set.Remaining())
	require.ErrorIs(t, context.Cause(set.Context()), coordinator.ErrLeaseLost)
	release(t, acquire(t, c.Node(3), lost))
	require.Len(t, inspect(t, c.Node(2), kept).Waiters, 1, "nobody enters while the caller unwinds")
	next.waits()

	err = set.Release(ctx)
	require.ErrorIs(t, err, coordinator.ErrLeaseLost)
	require.NotNil(t, next.granted())
}
