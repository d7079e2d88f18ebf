package coordinator_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
)

// All three nodes stop and are started again from their directories. What the
// groups knew is there as before: leases, queues in their order, counters of
// tokens. It is compared before a node has announced its new start, because
// then what its earlier start had is swept: the program that held it is gone.
func TestAllNodesStoppedAndStartedAgain(t *testing.T) {
	t.Parallel()
	t.Run("KilledAllAtOnceTheyKnowWhatTheyKnew", func(t *testing.T) {
		s := newScene(t)
		s.allComeBack()
		for node := 1; node <= 3; node++ {
			require.Equal(t, uint64(2), s.node(node).Status().Incarnation)
		}
	})

	t.Run("ClosedOneByOneTheLastOneKnowsAll", func(t *testing.T) {
		s := newScene(t)
		for _, n := range s.cluster.Nodes() {
			n.Close()
		}
		last := s.storedClaims(3)
		for i, dump := range last {
			// Nodes 1 and 2 have said that they go. Node 3 had nobody left to
			// tell.
			require.Regexp(t, `(?m)^presence 1 .* left$`, dump, "group %d", i+1)
			require.Regexp(t, `(?m)^presence 2 .* left$`, dump, "group %d", i+1)
			require.NotRegexp(t, `(?m)^presence 3 .* left$`, dump, "group %d", i+1)
		}
		lease := fmt.Sprintf(`(?m)^lease 3\.1\.\d+ token=%d .* %q `, uint64(s.leases[2].Token()), s.jobs[2])
		require.Regexp(t, lease, last[2])
		s.cluster.Node(3).Restart()
		require.Equal(t, last, s.claims(3))
		s.cluster.Node(1).Restart()
		s.cluster.Node(2).Restart()
		s.goesOn()
	})

	t.Run("WhileAHolderStaysDownItsLeaseAndItsPlacesInLineStay", func(t *testing.T) {
		s := newScene(t)
		s.killAll()
		first, second := s.cluster.Node(1), s.cluster.Node(2)
		first.Restart()
		second.Restart()
		require.NoError(t, s.cluster.WaitReady(patient(t)))
		key, held := s.jobs[2], s.leases[2].Token()
		// What the earlier starts of nodes 1 and 2 had in line is swept.
		awaitLine(t, s.cluster, first, key, 2)
		info := inspect(t, first, key)
		require.Equal(t, held, info.Holder.Token)
		require.Equal(t, coordinator.NodeID(3), info.Holder.Node)
		require.Equal(t, "job of node 3", info.Holder.Metadata)
		for i, metadata := range []string{"second", "fourth"} {
			require.Equal(t, coordinator.NodeID(3), info.Waiters[i].Node)
			require.Equal(t, metadata, info.Waiters[i].Metadata)
		}
		_, err := try(t, second, key)
		var busy *coordinator.BusyError
		require.ErrorAs(t, err, &busy)
		require.Equal(t, held, busy.Holders[0].Token)

		// Two more get in line. They are served in their order when the
		// holder's node is back.
		ahead := ask(t, second, key)
		awaitLine(t, s.cluster, first, key, 3)
		behind := ask(t, first, key)
		awaitLine(t, s.cluster, first, key, 4)
		s.cluster.Node(3).Restart()
		lease := ahead.granted()
		require.Greater(t, lease.Token(), held)
		behind.waits()
		release(t, lease)
		later := behind.granted()
		require.Greater(t, later.Token(), lease.Token())
		release(t, later)
		s.goesOn()
		require.NotZero(t, s.cluster.Faults().SweepsProposed, "sweeps")
	})
}
