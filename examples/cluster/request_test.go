package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

func TestAheadOf(t *testing.T) {
	info := coordinator.KeyInfo{
		Holder: &coordinator.Holder{Node: 2},
		Waiters: []coordinator.Waiter{
			{Node: 1, Metadata: "incarnation 1"}, {Node: 3, Metadata: "incarnation 1"}, {Node: 1, Metadata: "incarnation 2"},
		},
	}
	t.Run("TheHolderComesFirst", func(t *testing.T) {
		ahead, found := aheadOf(info, 3, "incarnation 1")
		require.True(t, found)
		require.Equal(t, []string{"node 2", "node 1"}, ahead)
	})
	t.Run("WhatAnEarlierIncarnationLeftIsAnotherWaiter", func(t *testing.T) {
		ahead, found := aheadOf(info, 1, "incarnation 2")
		require.True(t, found)
		require.Equal(t, []string{"node 2", "node 1", "node 3"}, ahead)
	})
	t.Run("WhoDoesNotWaitIsNotFound", func(t *testing.T) {
		_, found := aheadOf(info, 2, "incarnation 1")
		require.False(t, found)
		_, found = aheadOf(coordinator.KeyInfo{}, 2, "incarnation 1")
		require.False(t, found)
	})
}
