package statemachine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoomThatWasReservedAndNotUsedIsGivenBack(t *testing.T) {
	var keys table[int, int]
	keys.reserve(1_000_000)
	keys.put(1, 1)
	require.Equal(t, 1_000_000, keys.peak)
	keys.put(2, 2)
	keys.remove(1)
	require.Equal(t, 1, keys.peak, "it was not rebuilt")
	_, found := keys.get(2)
	require.True(t, found)
}

func TestLoadMakesRoomForKeysAndNotForThoseWhoWait(t *testing.T) {
	g := newGroup(t)
	const waiters = 5000
	for seq := range Seq(waiters) {
		g.node(1, waitFor(seq+1, "key"))
	}
	g.m.TakeChanges()
	m, err := Load(testGenesis, sequence(recordsOf(g.m)))
	require.NoError(t, err)
	require.Equal(t, waiters-1, m.Stats().Waits)
	require.Equal(t, 1, m.keys.peak)
}
