package statemachine

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTakeChanges(t *testing.T) {
	t.Run("OfANewMachineAreTheWholeImage", func(t *testing.T) {
		m := New(testGenesis)
		image := make(map[string]string)
		keepImage(image, m.TakeChanges())
		require.Equal(t, imageOf(m), image)
		require.Len(t, image, 1+len(testGenesis.Members))
		require.Empty(t, m.TakeChanges())
	})
	t.Run("AreOneRecordAThingSortedByKey", func(t *testing.T) {
		g := newGroup(t)
		g.m.TakeChanges()
		g.node(2, acquire(1, "a"), acquire(2, "b"))
		g.node(1, waitFor(1, "a"), waitFor(2, "b"))
		g.node(2, Release{Seq: 1})
		changes := g.m.TakeChanges()
		require.True(t, slices.IsSortedFunc(changes, func(a, b Record) int { return bytes.Compare(a.Key, b.Key) }))
		var kinds []byte
		for _, rec := range changes {
			require.NotNil(t, rec.Value)
			kinds = append(kinds, rec.Key[0])
		}
		require.Equal(t, []byte{1, 2, 2, 3, 3, 4}, kinds, "meta, two presences, two leases, one wait")
	})
	t.Run("OfAHandOverDeleteTheWaitAndPutTheLease", func(t *testing.T) {
		g := newGroup(t)
		g.node(1, acquire(1, "a"))
		g.node(2, waitFor(1, "a"))
		g.m.TakeChanges()
		g.node(1, Release{Seq: 1})
		changes := g.m.TakeChanges()
		require.Len(t, changes, 5)
		require.Equal(t, Record{Key: requestKey(recordLease, leaseID(1, 1))}, changes[2])
		require.Equal(t, requestKey(recordLease, leaseID(2, 1)), changes[3].Key)
		require.NotNil(t, changes[3].Value)
		require.Equal(t, Record{Key: requestKey(recordWait, leaseID(2, 1))}, changes[4])
	})
	t.Run("HaveNothingOfWhatCameAndWent", func(t *testing.T) {
		g := newGroup(t)
		g.m.TakeChanges()
		g.node(1, acquire(1, "a"), waitFor(2, "a"), Cancel{Seq: 2}, Release{Seq: 1})
		changes := g.m.TakeChanges()
		require.Len(t, changes, 2, "the meta and the presence")
	})
	t.Run("HaveTheNewRecordOfASeqThatWasUsedAnew", func(t *testing.T) {
		g := newGroup(t)
		image := make(map[string]string)
		g.node(1, acquire(1, "a"))
		keepImage(image, g.m.TakeChanges())
		g.node(1, Release{Seq: 1}, acquire(1, "b"))
		changes := g.m.TakeChanges()
		require.Len(t, changes, 3)
		keepImage(image, changes)
		require.Equal(t, imageOf(g.m), image)
	})
	t.Run("AreBoundedByTheStateIfNobodyTakesThem", func(t *testing.T) {
		g := newGroup(t)
		g.node(1, acquire(1, "held"))
		for seq := Seq(2); seq < 5000; seq++ {
			g.node(1, acquire(seq, "a"), Release{Seq: seq})
		}
		require.Len(t, g.m.changes.requests, 1)
		require.Len(t, g.m.changes.presences, len(testGenesis.Members))
	})
	t.Run("CostWhatWasTouched", func(t *testing.T) {
		g := newGroup(t)
		for i, key := range manyKeys(3000) {
			g.node(1, acquire(Seq(i+1), key))
		}
		g.m.TakeChanges()
		g.node(1, acquire(9000, "another"))
		require.Len(t, g.m.TakeChanges(), 3)
	})
}
