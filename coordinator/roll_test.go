package coordinator_test

import (
	"fmt"
	"net"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/internal/porttest"
	"github.com/palisade-go/palisade/token"
)

// roll is a fleet of three on its way from old places to new ones.
type roll struct {
	*fleet
	old, next map[coordinator.NodeID]string
	ownNames  bool // processes can have host names of their own
	moved     map[coordinator.NodeID]bool
	tokens    map[coordinator.NodeID]token.Token // of the lease of each node
}

// newRoll starts all nodes at their old places.
func newRoll(t *testing.T, election, ttl time.Duration) *roll {
	r := &roll{
		fleet: newFleet(t, 3, election, ttl), next: make(map[coordinator.NodeID]string),
		moved: make(map[coordinator.NodeID]bool), tokens: make(map[coordinator.NodeID]token.Token),
	}
	err := hostNamesCanBeSet()
	r.ownNames = err == nil
	if err != nil {
		t.Logf("the host name stays as it is, because a process here can't have its own (%v); raftnode's TestLinkHost shows what a new one does", err)
	}
	r.old = r.peers
	r.change = func(s *NodeStart) { s.HostName = r.hostName(s.NodeID) }
	for _, number := range r.members() {
		r.begin(number)
	}
	r.ready()
	for i, address := range porttest.Take(t, 3) {
		_, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		r.next[coordinator.NodeID(i+1)] = net.JoinHostPort("localhost", port)
	}
	return r
}

// hostName returns the name that a node's process takes; empty: it can't.
func (r *roll) hostName(number coordinator.NodeID) string {
	switch {
	case !r.ownNames:
		return ""
	case r.moved[number]:
		return fmt.Sprintf("new-host-%d", number)
	}
	return fmt.Sprintf("old-host-%d", number)
}

// begin starts a node.
func (r *roll) begin(number coordinator.NodeID) {
	r.t.Helper()
	p := r.start(number, func(cmd *exec.Cmd) {
		if r.ownNames {
			ownHostName(cmd)
		}
	})
	if r.ownNames {
		require.Equal(r.t, r.hostName(number), p.host)
	}
}

// move starts a node, which was closed, at its new place.
func (r *roll) move(number coordinator.NodeID) {
	r.t.Helper()
	r.moved[number] = true
	r.peers = r.next
	r.begin(number)
}

// key is what a node holds.
func (r *roll) key(number coordinator.NodeID) string { return fmt.Sprintf("lease of node %d", number) }

// acquire lets a node take its key, with a greater token than ever.
func (r *roll) acquire(number coordinator.NodeID) {
	r.t.Helper()
	var got token.Token
	r.running[number].ask("Acquire", r.key(number), &got)
	require.Greater(r.t, got, r.tokens[number])
	r.tokens[number] = got
}

// held checks that a node still holds its lease, and that it is the same.
func (r *roll) held(number coordinator.NodeID) {
	r.t.Helper()
	var got token.Token
	r.running[number].ask("Held", r.key(number), &got)
	require.Equal(r.t, r.tokens[number], got)
}

// renewed checks that the groups hear of a node: its lease can be renewed.
func (r *roll) renewed(number coordinator.NodeID) {
	r.t.Helper()
	r.running[number].ask("Renew", r.key(number), &Nothing{})
	r.held(number)
}

// survive checks that the leases of all nodes but the given ones are held, and
// that those see the same.
func (r *roll) survive(restarted ...coordinator.NodeID) {
	r.t.Helper()
	for _, number := range r.members() {
		if slices.Contains(restarted, number) {
			continue
		}
		r.held(number)
		for _, from := range restarted {
			var seen token.Token
			r.running[from].ask("Holder", r.key(number), &seen)
			require.Equal(r.t, r.tokens[number], seen, "%q, seen from node %d", r.key(number), from)
		}
	}
}

func (r *roll) closeAll() {
	r.t.Helper()
	for _, number := range r.members() {
		r.close(number)
	}
}
