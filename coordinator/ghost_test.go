package coordinator_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

// haunted is a cluster in which everything happens to leases that can, and
// what its callers know of theirs.
type haunted struct {
	t       *testing.T
	cluster *locktest.Cluster
	random  *rand.Rand
	keys    []string
	asked   []*inLine
	leases  []*coordinator.Lease
	down    *locktest.Node // nil: all run
	counts  struct{ granted, released, left, lost, stopped int }
}

// The case speaks of sessions that are listed and can't be found: here leases.
// Its 500 are 500 steps, of which most ask for one.
func TestS46NoLeaseIsAGhost(t *testing.T) {
	t.Parallel()
	h := &haunted{t: t, cluster: newCluster(t, 3), random: newRandom(t)}
	for i := range 40 {
		h.keys = append(h.keys, fmt.Sprintf("key-%d", i))
	}
	for step := range 500 {
		h.step(step)
	}
	h.settle()
	t.Logf("%+v", h.counts)
	require.NotZero(t, h.counts.granted)
	require.NotZero(t, h.counts.released)
	require.NotZero(t, h.counts.left)
	require.NotZero(t, h.counts.lost)
	require.Equal(t, 8, h.counts.stopped)
	require.NotZero(t, h.cluster.Faults().SweepsProposed)
	h.compare()
	h.silence()
}

func (h *haunted) step(step int) {
	switch step % 60 {
	case 20:
		h.down = h.cluster.Node(h.random.IntN(3) + 1)
		h.counts.stopped++
		if h.counts.stopped%2 == 0 {
			h.down.Close()
			break
		}
		acquire(h.t, h.down, fmt.Sprint("left behind at step ", step))
		h.down.Kill()
	case 40:
		h.down.Restart()
		h.down = nil
	}
	h.gather()
	switch n := h.random.IntN(20); {
	case n < 12:
		node := h.cluster.Node(h.random.IntN(3) + 1)
		if node == h.down {
			return
		}
		ttl := []time.Duration{locktest.MinTTL, locktest.TTL, long}[h.random.IntN(3)]
		h.asked = append(h.asked, ask(h.t, node, h.keys[h.random.IntN(len(h.keys))], coordinator.WithTTL(ttl)))
	case n < 16 && len(h.leases) > 0:
		h.release(h.random.IntN(len(h.leases)))
	case n < 18 && len(h.asked) > 0:
		h.asked[h.random.IntN(len(h.asked))].leave()
		h.counts.left++
	case n == 18:
		// A node that was suspended: what is short is lost.
		advance(h.cluster, locktest.TTL, h.random.IntN(3)+1)
	}
}

// gather sorts out which requests have been answered, and which leases were
// lost.
func (h *haunted) gather() {
	h.asked = slices.DeleteFunc(h.asked, func(l *inLine) bool {
		select {
		case <-l.done:
		default:
			return false
		}
		if l.err == nil {
			h.counts.granted++
			h.leases = append(h.leases, l.lease)
		}
		return true
	})
	h.leases = slices.DeleteFunc(h.leases, func(l *coordinator.Lease) bool {
		lost := !l.Held()
		if lost {
			h.counts.lost++
		}
		return lost
	})
}

// release gives a lease back and does not wait for its node to say that it is
// confirmed: it may be about to stop.
func (h *haunted) release(i int) {
	lease := h.leases[i]
	h.leases = slices.Delete(h.leases, i, i+1)
	switch err := lease.Release(patient(h.t)); {
	case err == nil:
		h.counts.released++
	case !errors.Is(err, coordinator.ErrLeaseLost):
		h.t.Errorf("release: %v", err)
	}
}

// settle lets all nodes run and all requests come to their ends.
func (h *haunted) settle() {
	h.t.Helper()
	require.Nil(h.t, h.down)
	ctx := patient(h.t)
	require.NoError(h.t, h.cluster.WaitReady(ctx))
	for _, l := range h.asked {
		l.leave()
		<-l.done
	}
	// What a killed node left is swept when a leader gets to it.
	require.NoError(h.t, h.cluster.Await(ctx, "nothing but leases in hands to be left", func() bool {
		h.gather()
		open := 0
		for _, n := range h.cluster.Nodes() {
			status := n.Coordinator().Status()
			if open += status.Requests; listed(status.Groups) != len(h.leases) {
				return false
			}
		}
		return open == len(h.leases)
	}))
	require.Empty(h.t, h.asked)
}

// compare checks that all nodes list the same leases, that each of them is
// found by a question about its key, on every node, and that it is in hands.
// A busy machine may lose one of the short ones while they are looked at; then
// all are looked at again.
func (h *haunted) compare() {
	h.t.Helper()
	for {
		lost := h.counts.lost
		require.NoError(h.t, h.cluster.WaitEqualDumps(patient(h.t)))
		groups := h.cluster.Node(1).Coordinator().Status().Groups
		found := make(map[*locktest.Node][]coordinator.KeyInfo)
		for _, n := range h.cluster.Nodes() {
			for _, key := range h.keys {
				found[n] = append(found[n], inspect(h.t, n, key))
			}
		}
		if h.settle(); h.counts.lost == lost {
			h.requireInHands(groups, found)
			return
		}
	}
}

// requireInHands compares what was found with the leases in hands.
func (h *haunted) requireInHands(groups []coordinator.GroupStatus, found map[*locktest.Node][]coordinator.KeyInfo) {
	h.t.Helper()
	inHands := make(map[string]token.Token)
	for _, l := range h.leases {
		inHands[l.Key()] = l.Token()
	}
	for _, g := range groups {
		require.Zero(h.t, g.Waits)
	}
	require.Len(h.t, inHands, listed(groups))
	for _, infos := range found {
		for _, info := range infos {
			require.Empty(h.t, info.Waiters)
			if info.Holder == nil {
				require.NotContains(h.t, inHands, info.Key)
				continue
			}
			require.Equal(h.t, inHands[info.Key], info.Holder.Token, "token of %q", info.Key)
		}
	}
}

// listed is how many leases the groups have.
func listed(groups []coordinator.GroupStatus) (leases int) {
	for _, g := range groups {
		leases += g.Leases
	}
	return leases
}

// silence checks that nothing is left of a node, and of a lost lease, after
// three times the longest TTL.
func (h *haunted) silence() {
	h.t.Helper()
	c := h.cluster
	for i := range 3 {
		acquire(h.t, c.Node(1), c.KeyIn(i+1, "last"))
	}
	expiries := c.Faults().ExpiriesProposed
	c.Node(1).Kill()
	for range 3 {
		letPass(h.t, c, long, 2, 3)
	}
	awaitNothingHeld(h.t, c)
	require.Greater(h.t, c.Faults().ExpiriesProposed, expiries)
	awaitNothingLeft(h.t, c)
}

// awaitNothingHeld waits until no group has a lease, as the nodes know it that
// run.
func awaitNothingHeld(t *testing.T, c *locktest.Cluster) {
	t.Helper()
	require.NoError(t, c.Await(patient(t), "all leases to end", func() bool {
		for _, n := range c.Nodes() {
			if !n.Running() {
				continue
			}
			for _, g := range n.Coordinator().Status().Groups {
				if g.Leases > 0 {
					return false
				}
			}
		}
		return true
	}))
}
