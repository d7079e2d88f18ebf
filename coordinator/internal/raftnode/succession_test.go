package raftnode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/statemachine"
)

func TestTheLeadershipIsOfferedToEverybodyElse(t *testing.T) {
	var s succession
	var offered []statemachine.NodeID
	for range 4 {
		next, ok := s.successor([]statemachine.NodeID{1, 2, 3}, 2)
		require.True(t, ok)
		offered = append(offered, next)
	}
	require.Equal(t, []statemachine.NodeID{3, 1, 3, 1}, offered)
	_, ok := s.successor([]statemachine.NodeID{2}, 2)
	require.False(t, ok)
}
