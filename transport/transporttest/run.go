// Package transporttest holds the rules of package transport as tests, which
// every implementation of transport.Network must pass.
package transporttest

import (
	"testing"

	"github.com/palisade-go/palisade/transport"
)

// Open makes a network without faults that is closed when t ends, and a
// function that returns an address nobody has used yet each time.
type Open = func(t *testing.T) (network transport.Network, newAddr func() string)

// Run runs every rule as a sub-test on a network of its own.
func Run(t *testing.T, open Open) {
	t.Helper()
	for _, group := range [][]rule{frameRules, pressureRules, turnRules, endRules, listenRules, dialRules} {
		for _, rule := range group {
			t.Run(rule.statement, func(t *testing.T) {
				network, newAddr := open(t)
				rule.check(t, world{Network: network, newAddr: newAddr})
			})
		}
	}
}

// OpenMembers makes a network without faults that is closed when t ends: join
// makes a node a member of it, as which the node listens and dials, and newAddr
// returns an address nobody has used yet each time. A handshake may take as
// long as a test.
type OpenMembers = func(t *testing.T) (join func(transport.Member) transport.Network, newAddr func() string)

// RunMembers runs every rule about members as a sub-test on a network of its
// own.
func RunMembers(t *testing.T, open OpenMembers) {
	t.Helper()
	for _, group := range [][]memberRule{judgingRules, refusalRules} {
		for _, rule := range group {
			t.Run(rule.statement, func(t *testing.T) {
				join, newAddr := open(t)
				rule.check(t, society{join: join, newAddr: newAddr})
			})
		}
	}
}

// memberRule is one statement about members and the test of it.
type memberRule struct {
	statement string
	check     func(t *testing.T, s society)
}

// rule is one statement about every network and the test of it.
type rule struct {
	statement string
	check     func(t *testing.T, w world)
}
