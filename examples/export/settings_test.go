package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

func TestParse(t *testing.T) {
	t.Run("WithoutArgumentsTheStoryIsTold", func(t *testing.T) {
		s, err := parse(nil)
		require.NoError(t, err)
		require.Equal(t, settings{}, s)
	})
	t.Run("ItReadsWhatTheStoryGivesItsNodes", func(t *testing.T) {
		want := settings{node: 3, dir: "some where", addresses: []string{"a:1", "b:2", "c:3"}}
		got, err := parse(want.args())
		require.NoError(t, err)
		require.Equal(t, want, got)
		config := got.config()
		require.Equal(t, "some where/node-3", config.Dir)
		require.Equal(t, coordinator.NodeID(3), config.NodeID)
		require.Equal(t, map[coordinator.NodeID]string{1: "a:1", 2: "b:2", 3: "c:3"}, config.Peers)
		require.Equal(t, "c:3", config.Listen, "nobody else can reach it")
	})
	t.Run("WhatIsWrongIsNamed", func(t *testing.T) {
		for _, c := range []struct {
			args  []string
			names string
		}{
			{[]string{"-node", "4", "-dir", "d", "-addresses", "a:1,b:2,c:3"}, "-node is 4"},
			{[]string{"-dir", "d"}, "-node is 0"},
			{[]string{"-node", "1", "-addresses", "a:1,b:2,c:3"}, "-dir is missing"},
			{[]string{"-node", "1", "-dir", "d", "-addresses", "a:1,b:2"}, "-addresses has 2"},
			{[]string{"2026-11"}, `"2026-11"`},
		} {
			_, err := parse(c.args)
			require.ErrorContains(t, err, c.names, "%q", c.args)
		}
	})
}
