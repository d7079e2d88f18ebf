package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

func TestParse(t *testing.T) {
	t.Run("WithoutArgumentsTheStoryIsTold", func(t *testing.T) {
		s, err := parse(nil)
		require.NoError(t, err)
		require.Zero(t, s.node)
	})
	t.Run("TheDefaultsAreThoseOfTheREADME", func(t *testing.T) {
		s, err := parse([]string{"-node", "2"})
		require.NoError(t, err)
		config := s.config()
		require.Equal(t, coordinator.NodeID(2), config.NodeID)
		require.Equal(t, "palisade-cluster/node-2", config.Dir)
		require.Equal(t, map[coordinator.NodeID]string{1: "127.0.0.1:7401", 2: "127.0.0.1:7402", 3: "127.0.0.1:7403"}, config.Peers)
		require.Equal(t, "127.0.0.1:7402", config.Listen)
		require.Equal(t, 5*time.Second, config.TTL)
	})
	t.Run("ItReadsWhatTheStoryGivesItsNodes", func(t *testing.T) {
		want := settings{node: 3, dir: "some where", addresses: []string{"a:1", "b:2", "c:3"}, ttl: shortTTL}
		got, err := parse(want.args())
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
	t.Run("WhatIsWrongIsNamed", func(t *testing.T) {
		for _, c := range []struct {
			args  []string
			names string
		}{
			{[]string{"-node", "4"}, "-node is 4"},
			{[]string{"-dir", "x"}, "-node is missing"},
			{[]string{"-node", "1", "-addresses", "a:1,b:2"}, "-addresses has 2"},
			{[]string{"-node", "1", "acquire"}, `"acquire"`},
		} {
			_, err := parse(c.args)
			require.ErrorContains(t, err, c.names, "%q", c.args)
		}
	})
}
