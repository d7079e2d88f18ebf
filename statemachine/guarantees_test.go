package statemachine

import (
	"slices"
	"testing"
	"time"

	"github.com/palisade-go/palisade/token"
	"github.com/stretchr/testify/require"
)

// The guarantees of the project, as far as the machine shows them. The tests
// look at events and queries only, so that they hold for any machine that keeps
// the guarantees, whatever its inside.

// follow runs a random log and gives each entry's batch and events.
func follow(t *testing.T, entries int, see func(m *Machine, b Batch, events []Event)) {
	followSeed(t, time.Now().UnixNano(), entries, see)
}

func followSeed(t *testing.T, seed int64, entries int, see func(m *Machine, b Batch, events []Event)) {
	t.Logf("seed %d", seed)
	c := newChaos(seed)
	c.floods = false
	m := New(testGenesis)
	for i := range entries {
		b := c.next(m)
		see(m, b, m.Apply(Index(i+1), b))
		if t.Failed() {
			t.Fatalf("seed %d: index %d", seed, i+1)
		}
	}
}

// arrivals are the acquires of a batch that were not refused, by the id that
// they got, each in the order of the log: a batch may have several of one seq,
// of which one was refused, or has ended before the next.
type arrivals map[LeaseID][]Acquire

func arrived(b Batch, events []Event) arrivals {
	refused := make(map[int]bool)
	for _, r := range only[Refused](events) {
		refused[r.Ordinal] = true
	}
	all := make(arrivals)
	for i, c := range b.Commands {
		if a, ok := c.(Acquire); ok && !refused[i] {
			id := LeaseID{Node: b.Node, Incarnation: b.Incarnation, Seq: a.Seq}
			all[id] = append(all[id], a)
		}
	}
	return all
}

// take returns the acquire that an event tells the arrival of.
func (a arrivals) take(id LeaseID) Acquire {
	first := a[id][0]
	a[id] = a[id][1:]
	return first
}

func TestG1OneOwner(t *testing.T) {
	oneOwner(t, time.Now().UnixNano())
}

// In this log a batch asks twice under one seq, for different keys, and the
// second is refused.
func TestG1OneOwnerWhenASeqIsUsedTwice(t *testing.T) {
	oneOwner(t, 1795999964657109036)
}

func oneOwner(t *testing.T, seed int64) {
	holder := make(map[string]LeaseID)
	asked := make(map[LeaseID]Acquire)
	grants := 0
	followSeed(t, seed, 3000, func(_ *Machine, b Batch, events []Event) {
		requests := arrived(b, events)
		for _, e := range events {
			switch e := e.(type) {
			case Queued:
				asked[e.Lease] = requests.take(e.Lease)
			case Granted:
				a, queued := asked[e.Lease]
				if !queued {
					a = requests.take(e.Lease)
					asked[e.Lease] = a
				}
				for _, c := range a.Claims {
					if other, taken := holder[c.Key]; taken {
						t.Errorf("%v is granted %q, which %v holds", e.Lease, c.Key, other)
					}
					holder[c.Key] = e.Lease
					grants++
				}
			case Ended:
				for _, c := range asked[e.Lease].Claims {
					if holder[c.Key] == e.Lease {
						delete(holder, c.Key)
					}
				}
				delete(asked, e.Lease)
			}
		}
	})
	require.NotZero(t, grants)
}

func TestG2TokensOnlyRise(t *testing.T) {
	t.Run("InEveryLog", func(t *testing.T) {
		last := token.Token(0)
		follow(t, 2000, func(_ *Machine, _ Batch, events []Event) {
			for _, g := range only[Granted](events) {
				if g.Token <= last {
					t.Errorf("token %d after token %d", g.Token, last)
				}
				last = g.Token
			}
		})
	})
	t.Run("ThroughTheImageOfAGroupThatHasNothing", func(t *testing.T) {
		g := newGroup(t)
		first := g.node(1, acquire(1, "k"), Release{Seq: 1})[0].(Granted).Token
		m, err := Load(testGenesis, g.m.Records())
		require.NoError(t, err)
		require.Zero(t, m.Stats())
		g.m = m
		require.Greater(t, g.node(1, acquire(2, "k"))[0].(Granted).Token, first)
	})
	t.Run("InAHigherEpochAboveAllOfALower", func(t *testing.T) {
		low := New(Genesis{Group: 1, Epoch: 4, Members: []NodeID{1}})
		low.meta.Counter = token.CounterMax - 1
		high := New(Genesis{Group: 1, Epoch: 5, Members: []NodeID{1}})
		b := Batch{Node: 1, Incarnation: 1, Number: 1, Commands: []Command{acquire(1, "k")}}
		require.Less(t, low.Apply(1, b)[1].(Granted).Token, high.Apply(1, b)[1].(Granted).Token)
	})
}

func TestG4ExpiryNamesWhatItSaw(t *testing.T) {
	g := newGroup(t)
	g.node(1, acquire(1, "k"))
	seen := g.expire(1, time.Hour)
	g.node(1)
	require.Empty(t, g.leader(seen), "the node was heard from meanwhile")
	require.Len(t, g.leader(g.expire(1, time.Hour)), 1)
	require.Empty(t, g.leader(g.expire(1, time.Hour)), "once")
}

// A wall clock takes part in nothing but what is shown.
func TestG4WallClocksDecideNothing(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	c := newChaos(seed)
	c.floods = false
	m, jumping := New(testGenesis), New(testGenesis)
	for i := range 800 {
		b := c.next(m)
		events := m.Apply(Index(i+1), b)
		b.Wall = c.rng.Int63() - c.rng.Int63()
		other := jumping.Apply(Index(i+1), b)
		require.Len(t, other, len(events))
		for n := range events {
			require.IsType(t, events[n], other[n])
			if g, ok := events[n].(Granted); ok {
				require.Equal(t, g, other[n])
			}
		}
	}
	require.Equal(t, m.Stats(), jumping.Stats())
}

// Of two requests that share a key and both arrive, the earlier is granted
// first, unless it ends before.
func TestG7FirstComeFirstServed(t *testing.T) {
	var line []LeaseID // in the order of arrival, not yet granted
	asked := make(map[LeaseID]Acquire)
	handedOver := 0
	follow(t, 3000, func(m *Machine, b Batch, events []Event) {
		requests := arrived(b, events)
		for _, e := range events {
			switch e := e.(type) {
			case Queued:
				line = append(line, e.Lease)
				asked[e.Lease] = requests.take(e.Lease)
			case Granted:
				a, queued := asked[e.Lease]
				if !queued {
					a = requests.take(e.Lease)
				} else {
					handedOver++
				}
				for _, ahead := range line {
					if ahead == e.Lease {
						break
					}
					for _, c := range a.Claims {
						if slices.Contains(asked[ahead].Claims, c) {
							t.Errorf("%v passes %v on %q", e.Lease, ahead, c.Key)
						}
					}
				}
				line = slices.DeleteFunc(line, func(id LeaseID) bool { return id == e.Lease })
			case Ended:
				line = slices.DeleteFunc(line, func(id LeaseID) bool { return id == e.Lease })
				delete(asked, e.Lease)
			}
		}
	})
	require.NotZero(t, handedOver)
}

// Whatever makes a key free hands it over in the same entry.
func TestG7EveryEndHandsOverInItsEntry(t *testing.T) {
	for name, end := range map[string]func(g *group) []Event{
		"Release":     func(g *group) []Event { return g.node(1, Release{Seq: 1}) },
		"Cancel":      func(g *group) []Event { return g.node(1, Cancel{Seq: 1}) },
		"Expire":      func(g *group) []Event { return g.leader(g.expire(1, time.Hour)) },
		"ExpireLimit": func(g *group) []Event { return g.leader(ExpireLimit{Lease: leaseID(1, 1)}) },
		"SweepOfTheLeft": func(g *group) []Event {
			g.node(1, Leave{})
			return g.leader(Sweep{Node: 1})
		},
		"SweepOfALowerIncarnation": func(g *group) []Event {
			g.m.Apply(g.m.Meta().Applied+1, Batch{Node: 1, Incarnation: 2, Number: 1})
			return g.leader(Sweep{Node: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t)
			a := acquire(1, "k")
			a.Limit = time.Minute
			g.node(1, a)
			g.node(2, waitFor(1, "k"))
			g.node(3, waitFor(1, "k"))
			events := end(g)
			require.Len(t, events, 2)
			require.Equal(t, leaseID(1, 1), events[0].(Ended).Lease)
			require.Equal(t, leaseID(2, 1), events[1].(Granted).Lease)
		})
	}
}

// However requests for several keys meet, when every holder lets go they are
// all served: none waits for another that waits for it.
func TestG8ManyKeysNoDeadlock(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rng := newChaos(seed).rng
	keys := manyKeys(6)
	for round := range 200 {
		g := newGroup(t)
		var held, served []LeaseID
		take := func(events []Event) {
			for _, e := range only[Granted](events) {
				held = append(held, e.Lease)
				served = append(served, e.Lease)
			}
		}
		const requests = 30
		for seq := Seq(1); seq <= requests; seq++ {
			picked := slices.Clone(keys)
			rng.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
			picked = picked[:1+rng.Intn(4)]
			slices.Sort(picked)
			take(g.node(NodeID(1+rng.Intn(3)), waitFor(seq, picked...)))
		}
		for len(held) > 0 {
			n := rng.Intn(len(held))
			id := held[n]
			held = slices.Delete(held, n, n+1)
			take(g.node(id.Node, Release{Seq: id.Seq}))
		}
		require.Len(t, served, requests, "seed %d, round %d", seed, round)
		require.Zero(t, g.m.Stats())
	}
}

// All or none: at no index does a request hold a part of its keys.
func TestG8AllOrNone(t *testing.T) {
	follow(t, 1500, func(m *Machine, _ Batch, _ []Event) {
		for _, p := range m.Presences() {
			leases, waits := m.Owned(p.Node, p.Incarnation)
			for _, l := range leases {
				for _, c := range l.Claims {
					if v, taken := m.Key(c.Key); !taken || v.Holder == nil || v.Holder.ID != l.ID {
						t.Errorf("%v does not hold %q", l.ID, c.Key)
					}
				}
			}
			for _, w := range waits {
				for _, c := range w.Claims {
					v, taken := m.Key(c.Key)
					if !taken || v.Holder != nil && v.Holder.ID == w.ID ||
						!slices.ContainsFunc(v.Waiters, func(o Wait) bool { return o.ID == w.ID }) {
						t.Errorf("%v does not stand in line for %q", w.ID, c.Key)
					}
				}
			}
		}
	})
}

// Each entry of a log is applied again, at once and late: nothing happens but
// rejections, and the state stays what it is but for the index.
func TestG9Once(t *testing.T) {
	var sent []Batch
	repeated := 0
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	c := newChaos(seed)
	c.floods = false
	m := New(testGenesis)
	for range 600 {
		b := c.next(m)
		m.Apply(m.Meta().Applied+1, b)
		if b.Node != 0 {
			sent = append(sent, b)
		}
		if len(sent) == 0 {
			continue
		}
		for _, again := range []Batch{sent[len(sent)-1], sent[c.rng.Intn(len(sent))]} {
			before := withoutIndex(m)
			events := m.Apply(m.Meta().Applied+1, again)
			require.Len(t, events, len(only[Rejected](events)), "seed %d: %+v", seed, again)
			require.Equal(t, before, withoutIndex(m), "seed %d: %+v", seed, again)
			repeated++
		}
	}
	require.NotZero(t, repeated)
}

// withoutIndex returns the image of the machine as if it had applied nothing.
func withoutIndex(m *Machine) map[string]string {
	image := imageOf(m)
	meta := m.Meta()
	meta.Applied = 0
	rec := metaRecord(metaValue{meta, m.group})
	image[string(rec.Key)] = string(rec.Value)
	return image
}

func TestG11QueuesAreBoundedByTheRequest(t *testing.T) {
	g := newGroup(t)
	g.node(1, acquire(1, "k"))
	for seq := Seq(1); seq <= 100; seq++ {
		a := waitFor(seq, "k")
		a.QueueMax = 7
		e := g.node(2, a)[0]
		if seq <= 7 {
			require.Equal(t, Queued{Lease: leaseID(2, seq)}, e)
		} else {
			require.Equal(t, RefusedQueueFull, e.(Refused).Reason)
		}
	}
	require.Equal(t, Stats{Leases: 1, Waits: 7, Keys: 1, LongestQueue: 7}, g.m.Stats())
}

func TestG11SlicesAreBounded(t *testing.T) {
	g := newGroup(t)
	const requests = 2*SliceMax + 17
	var commands []Command
	for i, key := range manyKeys(requests) {
		commands = append(commands, acquire(Seq(i+1), key))
	}
	g.node(1, commands...)
	g.node(2, waitFor(1, manyKeys(1)...))
	t.Run("OfAnExpireAreTheOldestFirst", func(t *testing.T) {
		m, err := Load(testGenesis, g.m.Records())
		require.NoError(t, err)
		expire := g.expire(1, time.Hour)
		next := Seq(1)
		for _, want := range []int{SliceMax, SliceMax, 17, 0} {
			ended := only[Ended](m.Apply(m.Meta().Applied+1, Batch{Commands: []Command{expire}}))
			require.Len(t, ended, want)
			for _, e := range ended {
				require.Equal(t, Ended{Lease: leaseID(1, next), Reason: EndExpired}, e)
				next++
			}
			require.NoError(t, m.Check())
		}
		require.Equal(t, Stats{Leases: 1, Keys: 1}, m.Stats())
	})
	t.Run("OfASweepAreCountedByLeftovers", func(t *testing.T) {
		require.Zero(t, g.m.Leftovers(1))
		g.m.Apply(g.m.Meta().Applied+1, Batch{Node: 1, Incarnation: 2, Number: 1, Commands: []Command{acquire(1, "mine")}})
		for _, want := range []int{requests, requests - SliceMax, 17, 0} {
			require.Equal(t, want, g.m.Leftovers(1))
			require.Len(t, only[Ended](g.leader(Sweep{Node: 1})), min(want, SliceMax))
		}
		require.Equal(t, Stats{Leases: 2, Keys: 2}, g.m.Stats())
	})
}

// What a later slice will end can be granted in between: it is next in line,
// and the log does not say yet that it ends. It ends with its slice.
func TestAGrantBetweenSlicesEndsWithItsSlice(t *testing.T) {
	g := newGroup(t)
	g.node(1, acquire(1, "k"))
	var commands []Command
	for seq := Seq(2); seq <= SliceMax+2; seq++ {
		commands = append(commands, waitFor(seq, "k"))
	}
	g.node(1, commands...)
	g.node(2, waitFor(1, "k"))
	expire := g.expire(1, time.Hour)
	events := g.leader(expire)
	require.Len(t, only[Ended](events), SliceMax)
	require.Equal(t, leaseID(1, SliceMax+1), only[Granted](events)[0].Lease)
	require.IsType(t, Granted{}, events[SliceMax], "after all that the slice ends")
	events = g.leader(expire)
	require.Equal(t, []Event{
		Ended{Lease: leaseID(1, SliceMax+1), Reason: EndExpired},
		Ended{Lease: leaseID(1, SliceMax+2), Reason: EndExpired, Waiting: true},
		Granted{Lease: leaseID(2, 1), Token: 3, Last: 1},
	}, events)
}
