package locktest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

func TestDumps(t *testing.T) {
	c := New(t, 3, WithConfig(func(_ int, cfg *coordinator.Config) { cfg.TTL = time.Hour }))
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	group := c.Group("key")
	lease, err := c.Node(1).Coordinator().Acquire(ctx, "key")
	require.NoError(t, err)
	require.NoError(t, c.WaitEqualDumps(ctx))
	dumps := c.Dumps(group)
	require.True(t, lease.Held())
	require.Len(t, dumps, 3)
	for i, d := range dumps {
		require.Equal(t, i+1, d.Node)
		require.Contains(t, d.Text, "key")
	}
	c.Node(2).Kill()
	require.Len(t, c.Dumps(group), 2, "a node that is stopped has none")

	t.Run("WaitEqualDumpsGivesUpWithItsContext", func(t *testing.T) {
		c.Node(2).Restart()
		require.NoError(t, c.WaitReady(ctx))
		c.Isolate(3)
		lease, err := c.Node(1).Coordinator().Acquire(ctx, c.KeyIn(group, "other"))
		require.NoError(t, err)
		require.True(t, lease.Held())
		short, cancel := context.WithTimeout(ctx, ElectionTimeout)
		defer cancel()
		require.ErrorIs(t, c.WaitEqualDumps(short), context.DeadlineExceeded)
		c.Heal()
		require.NoError(t, c.WaitEqualDumps(ctx))
	})
}

func TestDiffer(t *testing.T) {
	same := []Dump{{1, 5, "a\nb"}, {2, 5, "a\nb"}, {3, 4, "a"}}
	require.NoError(t, differ(1, same))
	require.False(t, sameIndex(same))
	require.True(t, sameIndex(same[:2]))

	err := differ(7, []Dump{{1, 5, "a\nb"}, {3, 5, "a\nc"}})
	require.ErrorContains(t, err, "group 7 at index 5 differs between node 1 and node 3")
	require.ErrorContains(t, err, "line 2\n- b\n+ c")
	require.ErrorContains(t, differ(7, []Dump{{1, 5, "a"}, {3, 5, "a\nc"}}), "line 2\n- \n+ c")
}
