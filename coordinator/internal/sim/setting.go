package sim

import (
	"fmt"
	"time"

	"github.com/palisade-go/palisade/statemachine"
)

// The times of every world: an election timeout of 1 s.
const (
	election   = time.Second
	ttlShort   = 4 * time.Second
	ttlLong    = 10 * time.Second
	limitShort = 4 * time.Second
	limitLong  = 7 * time.Second
	// longest is how long a strike may last, and a client hold on: past every
	// TTL and limit.
	longest = 20 * time.Second
)

// setting is how large a world is, and how it paces.
type setting struct {
	nodes, groups int
	clients       int // of each node
	keys          int // of each group
	strikes       int
	troubled      time.Duration // how long there are faults
	trip          span          // of a proposal to the log, and of an entry to a replica
	think, hold   span          // of a client, between two rounds and in possession
	patience      time.Duration // the longest that a client waits who won't wait for ever
	// dumpEvery is at every how many entries the whole state is compared and
	// checked. What the entries change in the image is compared at each.
	dumpEvery int
}

// drawSetting makes most worlds small: few clients, few keys, all that can go
// wrong. Some are crowded, with batches of many commands.
func drawSetting(seed int64) setting {
	r := newStream(seed, "setting")
	if r.chance(crowdedPercent) {
		return setting{
			nodes: 3 + 2*r.IntN(2), groups: 1 + r.IntN(2), clients: 200 + r.IntN(400), keys: 100 + r.IntN(400),
			strikes: 12 + r.IntN(12), troubled: 30 * time.Second,
			trip:  span{10 * time.Millisecond, 80 * time.Millisecond},
			think: span{0, 200 * time.Millisecond}, hold: span{0, 200 * time.Millisecond},
			patience:  4 * time.Second,
			dumpEvery: 512,
		}
	}
	s := setting{
		nodes: 3, groups: 1 + r.IntN(3), clients: 1 + r.IntN(5), keys: 2 + r.IntN(2),
		strikes: 20 + r.IntN(50), troubled: time.Minute,
		trip:  span{time.Millisecond, 20 * time.Millisecond},
		think: span{0, time.Second}, hold: span{0, 8 * time.Second},
		patience:  15 * time.Second,
		dumpEvery: 4,
	}
	if r.chance(20) {
		s.nodes = 5
	}
	return s
}

// crowdedPercent is how many of a hundred worlds are crowded.
const crowdedPercent = 10

func (s setting) crowded() bool { return s.clients >= 100 }

// members are the ids of the nodes.
func (s setting) members() []statemachine.NodeID {
	var all []statemachine.NodeID
	for i := range s.nodes {
		all = append(all, statemachine.NodeID(i+1))
	}
	return all
}

func (s setting) String() string {
	return fmt.Sprintf("%d nodes, %d groups, %d clients a node, %d keys a group, %d strikes",
		s.nodes, s.groups, s.clients, s.keys, s.strikes)
}
