package statemachine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// group is a machine with the batch numbers of its nodes, for tests in Go.
type group struct {
	t      testing.TB
	m      *Machine
	number map[NodeID]BatchNumber
}

func newGroup(t testing.TB) *group {
	return &group{t: t, m: New(testGenesis), number: make(map[NodeID]BatchNumber)}
}

// node applies the next batch of incarnation 1 of the node and returns its
// events without the Applied.
func (g *group) node(node NodeID, commands ...Command) []Event {
	g.number[node]++
	events := g.m.Apply(g.m.Meta().Applied+1, Batch{
		Node: node, Incarnation: 1, Number: g.number[node], Speaks: Binary, Commands: commands,
	})
	require.Equal(g.t, Applied{Node: node, Incarnation: 1, Number: g.number[node]}, events[0])
	return events[1:]
}

// leader applies commands of the leader.
func (g *group) leader(commands ...Command) []Event {
	return g.m.Apply(g.m.Meta().Applied+1, Batch{Commands: commands})
}

// expire returns the Expire that a leader would propose now.
func (g *group) expire(node NodeID, ttl time.Duration) Expire {
	return Expire{Node: node, Incarnation: 1, Last: g.number[node], TTL: ttl}
}

func acquire(seq Seq, keys ...string) Acquire {
	return Acquire{Seq: seq, Claims: claims(keys...), TTL: 10 * time.Second}
}

func waitFor(seq Seq, keys ...string) Acquire {
	a := acquire(seq, keys...)
	a.Wait = true
	return a
}

func claims(keys ...string) []Claim {
	var claims []Claim
	for _, key := range keys {
		claims = append(claims, Claim{Key: key, Mode: Exclusive})
	}
	return claims
}

func leaseID(node NodeID, seq Seq) LeaseID { return LeaseID{Node: node, Incarnation: 1, Seq: seq} }

// only returns the events of type E.
func only[E Event](events []Event) []E {
	var picked []E
	for _, e := range events {
		if e, ok := e.(E); ok {
			picked = append(picked, e)
		}
	}
	return picked
}
