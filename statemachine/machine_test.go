package statemachine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApplyPanicsBeforeItChangesAnything(t *testing.T) {
	t.Run("WhenTheIndexIsNotAboveTheLast", func(t *testing.T) {
		g := newGroup(t)
		g.m.Apply(5, Batch{})
		before := dump(t, g.m)
		require.PanicsWithError(t, "statemachine: index 5 applied after index 5", func() { g.m.Apply(5, Batch{}) })
		require.PanicsWithError(t, "statemachine: index 4 applied after index 5", func() { g.m.Skip(4) })
		require.Equal(t, before, dump(t, g.m))
		g.m.Apply(9, Batch{}) // indexes of the engine's own entries are missing
		require.Equal(t, Index(9), g.m.Meta().Applied)
	})
	t.Run("WhenTheGroupIsNewerThanTheBinary", func(t *testing.T) {
		g := newGroup(t)
		for node := NodeID(1); node <= 3; node++ {
			g.m.Apply(Index(node), Batch{Node: node, Incarnation: 1, Number: 1, Speaks: Binary + 1})
		}
		require.True(t, g.m.UpgradeTo(Binary+1))
		require.False(t, g.m.UpgradeTo(Binary))
		require.False(t, g.m.UpgradeTo(Binary+2))
		g.leader(Upgrade{Version: Binary + 1})
		require.Equal(t, Binary+1, g.m.Meta().Version)
		before := dump(t, g.m)
		defer func() {
			err, ok := recover().(error)
			require.True(t, ok)
			require.ErrorIs(t, err, ErrNewer)
			require.Equal(t, before, dump(t, g.m))
			_, err = Load(testGenesis, g.m.Records())
			require.ErrorIs(t, err, ErrNewer)
		}()
		g.leader()
	})
}

func TestCommandsThatAreNoneAreRefused(t *testing.T) {
	g := newGroup(t)
	a := acquire(1, "a")
	for i, e := range g.node(1, nil, &a, &Leave{}) {
		require.Equal(t, Refused{Node: 1, Incarnation: 1, Number: 1, Ordinal: i, Reason: RefusedInvalid}, e)
	}
	require.Equal(t, []Event{Refused{Reason: RefusedInvalid}}, g.leader(nil))
	require.NoError(t, g.m.Check())
}

func TestEventsBelongToTheCaller(t *testing.T) {
	g := newGroup(t)
	first := g.node(1, acquire(1, "a"))
	kept := eventText(first)
	g.node(2, acquire(1, "b"), acquire(2, "c"))
	require.Equal(t, kept, eventText(first))
}

func TestAnEpochThatCantBeIsRefusedNotWrapped(t *testing.T) {
	m := New(Genesis{Group: 1, Epoch: 1 << 10, Members: []NodeID{1}})
	events := m.Apply(1, Batch{Node: 1, Incarnation: 1, Number: 1, Commands: []Command{acquire(1, "a")}})
	require.Equal(t, RefusedExhausted, events[1].(Refused).Reason)
}

func TestMembersAreTakenOnce(t *testing.T) {
	m := New(Genesis{Group: 1, Members: []NodeID{3, 1, 3, 2, 1}})
	require.NoError(t, m.Check())
	var nodes []NodeID
	for _, p := range m.Presences() {
		nodes = append(nodes, p.Node)
		require.Equal(t, Presence{Node: p.Node}, p)
	}
	require.Equal(t, []NodeID{1, 2, 3}, nodes)
}

func TestReasonsHaveWords(t *testing.T) {
	require.Equal(t, "other directory", RejectedDirectory.String())
	require.Equal(t, "queue full", RefusedQueueFull.String())
	require.Equal(t, "swept", EndSwept.String())
	require.Equal(t, "reject reason 0", RejectReason(0).String())
	require.Equal(t, "refuse reason 99", RefuseReason(99).String())
	require.Equal(t, "end reason 0", EndReason(0).String())
}
