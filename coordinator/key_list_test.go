package coordinator_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// The edges of a list of keys: none, one, too many; and its end as a whole.

func TestS90EmptySingleAndTooMany(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 1)
	ctx := patient(t)
	n, node := c.Node(1), c.Node(1).Coordinator()
	list := func(size int) []string {
		keys := make([]string, size)
		for i := range keys {
			keys[i] = fmt.Sprintf("key %d", i)
		}
		return keys
	}
	never := func(context.Context, *coordinator.LeaseSet) error {
		t.Error("fn is run")
		return nil
	}
	calls := map[string]func(keys []string) error{
		"AcquireAll": func(keys []string) error {
			set, err := node.AcquireAll(ctx, keys)
			require.Nil(t, set)
			return err
		},
		"TryAcquireAll": func(keys []string) error {
			set, err := node.TryAcquireAll(ctx, keys)
			require.Nil(t, set)
			return err
		},
		"DoAll": func(keys []string) error { return node.DoAll(ctx, keys, never) },
	}
	before := batches(n)
	for name, call := range calls {
		for text, keys := range map[string][][]string{
			"no key":                 {nil, {}},
			"65 keys: at most 64":    {list(coordinator.DefaultLimitKeys + 1)},
			"10000 keys: at most 64": {list(10_000)},
		} {
			for _, wrong := range keys {
				err := call(wrong)
				require.ErrorIs(t, err, coordinator.ErrInvalid, "%s of %d", name, len(wrong))
				require.ErrorContains(t, err, text, name)
				require.Equal(t, coordinator.NotApplied, outcomeOf(t, err), name)
				require.Less(t, len(err.Error()), 1000, "an error does not repeat what is too long")
			}
		}
	}
	require.Equal(t, before, batches(n), "nothing was proposed")

	most := list(coordinator.DefaultLimitKeys)
	set, err := node.AcquireAll(ctx, most)
	require.NoError(t, err)
	require.Len(t, set.Keys(), len(most))
	require.NoError(t, set.Release(ctx))

	// A list of one is as the key alone: they exclude one another, and cost
	// the same.
	awaitNothingLeft(t, c)
	counted := func(do func()) uint64 {
		before := batches(n)
		do()
		return batches(n) - before
	}
	var alone *coordinator.Lease
	one := counted(func() { alone = acquire(t, n, "a") })
	_, err = node.TryAcquireAll(ctx, []string{"a"})
	require.ErrorIs(t, err, coordinator.ErrBusy)
	release(t, alone)
	awaitNothingLeft(t, c)
	require.Equal(t, one, counted(func() { set, err = node.AcquireAll(ctx, []string{"a"}) }))
	require.NoError(t, err)
	got, ok := set.Token("a")
	require.True(t, ok)
	require.Greater(t, got, alone.Token())
	require.Equal(t, got, inspect(t, n, "a").Holder.Token)
	_, err = node.TryAcquire(ctx, "a")
	require.ErrorIs(t, err, coordinator.ErrBusy)
	require.NoError(t, set.Release(ctx))
	awaitNothingLeft(t, c)
}

// S91: one group no longer hears of the holder's node, which the case calls
// the loss of a session, while the other one goes on. The link to the leader
// of that group alone is cut.
func TestS91ASetLivesAndDiesTogether(t *testing.T) {
	t.Parallel()
	c := newSteadyCluster(t, 3)
	ctx := patient(t)
	kept, lost := c.KeyIn(1, "kept"), c.KeyIn(2, "lost")
	require.NoError(t, c.MoveLeader(ctx, kept, 2))
	require.NoError(t, c.MoveLeader(ctx, lost, 3))
	node := c.Node(1).Coordinator()
	set, err := node.AcquireAll(ctx, []string{kept, lost})
	require.NoError(t, err)
	next := ask(t, c.Node(2), kept, coordinator.WithTTL(longer))
	awaitLine(t, c, c.Node(2), kept, 1)
	losses := node.Status().LostWindow

	c.BlackHole(1, 3)
	c.BlackHole(3, 1)
	applied := func() uint64 { return node.Status().Groups[0].Applied }
	for set.Held() {
		before := applied()
		advance(c, long/4, 1, 2, 3)
		require.NoError(t, c.Await(ctx, "the other group to be renewed", func() bool { return applied() > before }))
	}
	awaitEnd(t, set)
	<-set.Endangered()
	require.ErrorIs(t, set.Err(), coordinator.ErrLeaseLost)
	require.Equal(t, losses+1, node.Status().LostWindow, "the loss is told once")
	awaitDropped(t, c, 1, 3)
	for _, key := range []string{kept, lost} {
		got, ok := set.Token(key)
		require.True(t, ok)
		require.NotZero(t, got, "tokens can be asked for after the loss")
	}
	free := ask(t, c.Node(2), lost, coordinator.WithTTL(longer))
	advance(c, long, 3) // the leader that no longer hears of the node
	underLeader(t, c, 3, lost, free.done)
	release(t, free.granted())
	require.NotZero(t, c.Faults().ExpiriesProposed)
	require.Equal(t, coordinator.NodeID(1), inspect(t, c.Node(2), kept).Holder.Node, "the rest is held until Release")
	next.waits()
	require.ErrorIs(t, set.Release(ctx), coordinator.ErrLeaseLost)
	release(t, next.granted())
	c.Heal()
	awaitNothingLeft(t, c)
}
