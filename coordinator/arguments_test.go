package coordinator_test

import (
	"context"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// What looks odd and is right. What is wrong is in badinput_test.go.

func TestTheEdgesOfWhatIsAllowedAreAllowed(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	node := c.Node(1).Coordinator()
	const least = 4 * coordinator.SingleElectionTimeout
	c.Node(1).Clock().Freeze() // the least ttl lasts as long as the others
	odd := "\x00\xff\xc3(\n" + strings.Repeat("é", 600)
	zeroFirst := odd[:1022] // a zero byte in front is told from that of a trace
	for name, right := range map[string]coordinator.AcquireOption{
		"the least ttl":          coordinator.WithTTL(least),
		"the greatest ttl":       coordinator.WithTTL(24 * time.Hour),
		"the least max hold":     coordinator.WithMaxHold(least),
		"the greatest max hold":  coordinator.WithMaxHold(math.MaxInt64),
		"the greatest wait":      coordinator.WithWait(math.MaxInt64),
		"no metadata":            coordinator.WithMetadata(""),
		"the longest metadata":   coordinator.WithMetadata(odd[1:1025]),
		"the longest with 0":     coordinator.WithMetadata(zeroFirst),
		"the shortest id":        coordinator.WithRequestID("\x00"),
		"the longest request id": coordinator.WithRequestID(odd[:128]),
	} {
		release(t, acquire(t, c.Node(1), name, right))
		lease, err := try(t, c.Node(1), name, right)
		require.NoError(t, err, name)
		holder := inspect(t, c.Node(1), name).Holder
		require.Equal(t, lease.Token(), holder.Token, name)
		require.Contains(t, []string{"", odd[1:1025], zeroFirst}, holder.Metadata)
		require.Contains(t, []string{"", "\x00", odd[:128]}, holder.RequestID)
	}

	c.Node(1).Clock().Thaw()

	t.Run("TheGreatestMaxHoldIsNoLimit", func(t *testing.T) {
		lease := acquire(t, c.Node(1), "for ever", coordinator.WithMaxHold(math.MaxInt64))
		require.NoError(t, lease.Ensure(patient(t), long*89/100))
		requireOpen(t, lease)
		require.Equal(t, lease.Token(), inspect(t, c.Node(1), "for ever").Holder.Token)
	})
	t.Run("AKeyThatIsRepeatedCountsOnce", func(t *testing.T) {
		keys := make([]string, 64*100) // 64 are allowed
		for i := range keys {
			keys[i] = strings.Repeat("k", i%64+1)
		}
		set, err := node.AcquireAll(patient(t), keys)
		require.NoError(t, err)
		require.Len(t, set.Keys(), 64)
		require.NoError(t, set.Release(patient(t)))
	})
	t.Run("WhatAlwaysRemainsIsEnsured", func(t *testing.T) {
		lease := acquire(t, c.Node(1), "held")
		before := batches(c.Node(1))
		for _, d := range []time.Duration{0, -1, math.MinInt64} {
			require.NoError(t, lease.Ensure(patient(t), d))
		}
		require.Equal(t, before, batches(c.Node(1)))
	})
	t.Run("ABindingToNoContextEndsWithTheLease", func(t *testing.T) {
		lease := acquire(t, c.Node(1), "bound")
		var none context.Context
		bound, unbind := lease.Bind(none)
		defer unbind()
		require.NoError(t, bound.Err())
		release(t, lease)
		<-bound.Done()
	})
}

func TestS111OddKeys(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1)
	odd := []string{
		" ", "  ", "/", "a", "a/", "/a", "a//b", "a/b", "a\x00b", "a\x00", "\x00", "\xff\xfe", "\xc3\x28",
		"\u00e9", "e\u0301", "..", "../..", ".", "\n", "{", "}", "{}", "{a}", "{a}b", "a{}", "{a}{b}", "{a}{c}", "}{",
		strings.Repeat("k", 512), strings.Repeat("k", 511) + "\x00", strings.Repeat("\xff", 512),
	}
	held := make(map[string]*coordinator.Lease)
	for _, key := range odd {
		lease, err := try(t, c.Node(1), key)
		require.NoError(t, err, "%q is taken for another one", key)
		require.Equal(t, key, lease.Key())
		held[key] = lease
	}
	for _, key := range odd {
		_, err := try(t, c.Node(1), key)
		var busy *coordinator.BusyError
		require.ErrorAs(t, err, &busy)
		require.Equal(t, key, busy.Holders[0].Key)
		require.Equal(t, held[key].Token(), busy.Holders[0].Token)
		require.Equal(t, key, inspect(t, c.Node(1), key).Holder.Key)
	}
	require.NoError(t, filepath.WalkDir(c.Node(1).Dir(), func(path string, _ fs.DirEntry, err error) error {
		require.NotContains(t, filepath.Base(path), "kkkk", "a path is made of a key")
		return err
	}))
}
