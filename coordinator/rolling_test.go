package coordinator_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// Three nodes are restarted one by one, each at a new port, under another name
// of its host in Peers, and under another name as its own process sees it.
//
// A node reads Peers when it is opened. A node that moved is not reached by
// those that still dial the old place. So there are two ways to move a cluster:
//
//   - Keep all places reachable. Before the first restart the new address of
//     each node leads to the old one; when a node has moved, its old address
//     leads to the new one. Each node is restarted once, with the new Peers
//     and with nobody being cut off at any time. Then the old addresses go.
//     That is what a name service or a balancer in front of the nodes does.
//   - Restart all with the new Peers, and wait for nothing in between. The
//     first node is deaf until the second is back; the last one is cut off
//     from then until its own restart. Leases survive whose TTL is longer than
//     all of that takes: above twice the time between the end of the second
//     node and the end of the third.
func TestRollingRestartWithNewPortsAndHostNames(t *testing.T) {
	const election = 400 * time.Millisecond

	t.Run("WhileAllPlacesStayReachableNoLeaseIsLost", func(t *testing.T) {
		r := newRoll(t, election, 20*election)
		for _, number := range r.members() {
			r.acquire(number)
		}
		toOld, toNew := make(map[coordinator.NodeID]*forwarder), make(map[coordinator.NodeID]*forwarder)
		for _, number := range r.members() {
			toOld[number] = forward(t, r.next[number], r.old[number])
		}
		for _, number := range r.members() {
			r.close(number)
			toOld[number].close()
			toNew[number] = forward(t, r.old[number], r.next[number])
			r.move(number)
			r.ready()
			for _, other := range r.members() {
				if other != number {
					r.renewed(other)
				}
			}
			r.survive(number)
			r.acquire(number)
		}
		for _, number := range r.members() {
			if number < 3 { // all nodes had moved when the last one came
				require.NotZero(t, toNew[number].connections(), "to the new place of node %d", number)
			}
			toNew[number].close()
		}
		r.ready()
		for _, number := range r.members() {
			r.renewed(number)
			r.survive(number)
		}
		r.closeAll()
	})

	t.Run("RestartedWithoutWaitingLeasesOfALongTTLSurvive", func(t *testing.T) {
		r := newRoll(t, election, time.Minute)
		for _, number := range r.members() {
			r.acquire(number)
		}
		r.close(1)
		r.move(1)
		r.held(2)
		r.held(3)
		r.close(2)
		r.move(2)
		r.ready(1, 2)
		r.survive(1, 2) // node 3 is cut off: its lease is known to the others, and held there
		r.acquire(1)
		r.acquire(2)
		r.held(3)
		r.close(3)
		r.move(3)
		r.ready()
		r.survive(3)
		r.acquire(3)
		r.closeAll()
	})
}
