package statemachine

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWalkShowsHolderAndHeadOfTheLine(t *testing.T) {
	g := newGroup(t)
	a := acquire(5, "a", "b")
	a.RequestID, a.Metadata = "r", "m"
	g.node(1, a)
	g.node(2, waitFor(1, "b", "x"))
	g.node(3, waitFor(9, "b"), waitFor(2, "b"))
	holder := func(key string) Holder {
		return Holder{Lease: leaseID(1, 5), Key: key, Token: 1, RequestID: "r", Metadata: "m", TTL: 10 * time.Second}
	}
	first, _ := g.m.Wait(leaseID(2, 1))
	second, _ := g.m.Wait(leaseID(3, 9))
	want := map[string]Glance{
		"a": {Holder: holder("a"), Held: true},
		"b": {Holder: holder("b"), Held: true, Waiters: 3, Queue: []Wait{first, second}},
		"x": {Holder: Holder{Key: "x"}, Waiters: 1, Queue: []Wait{first}},
	}
	seen := map[string]Glance{}
	for shown := range g.m.Walk(2) {
		require.NotContains(t, seen, shown.Holder.Key)
		seen[shown.Holder.Key] = shown
		one, taken := g.m.Glance(shown.Holder.Key, 2)
		require.True(t, taken)
		require.Equal(t, shown, one)
	}
	require.Equal(t, want, seen)
	_, taken := g.m.Glance("free", 2)
	require.False(t, taken)
	for shown := range g.m.Walk(0) {
		require.Empty(t, shown.Queue)
	}
}

func TestWalkWhileTheMachineChanges(t *testing.T) {
	const stay, gone, come = 100, 4 * tableShrinkMin, 100
	g := newGroup(t)
	seq := Seq(0)
	take := func(name string, i int) {
		seq++
		g.node(1, acquire(seq, fmt.Sprintf("%s %d", name, i)))
	}
	for i := range stay {
		take("stay", i)
	}
	before := seq
	for i := range gone {
		take("go", i)
	}
	next, stop := iter.Pull(g.m.Walk(0))
	defer stop()
	seen := map[string]bool{}
	for range 10 {
		shown, ok := next()
		require.True(t, ok)
		seen[shown.Holder.Key] = true
	}
	for i := range come {
		take("come", i)
	}
	peak := g.m.keys.peak
	for s := before + 1; s <= before+gone; s++ {
		g.node(1, Release{Seq: s})
	}
	require.Less(t, g.m.keys.peak, peak, "the table was rebuilt")
	for shown, ok := next(); ok; shown, ok = next() {
		require.NotContains(t, seen, shown.Holder.Key, "shown twice")
		require.NotContains(t, shown.Holder.Key, "go", "it is free")
		seen[shown.Holder.Key] = true
	}
	for i := range stay {
		require.Contains(t, seen, fmt.Sprintf("stay %d", i))
	}
}
