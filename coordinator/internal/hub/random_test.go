package hub

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	randomSeed  = flag.Int64("seed", 0, "replay this seed of TestRandomWorlds alone")
	randomSeeds = flag.Int("seeds", 0, "how many seeds TestRandomWorlds runs; 0: as many as -random-time allows")
	randomTime  = flag.Duration("random-time", 10*time.Second, "how long TestRandomWorlds draws new seeds")
)

// TestRandomWorlds runs three nodes, each with the hub, the lock machine and
// the expiry proposer of production, under faults that a seed draws; see
// world. It is the oracle that says what must hold at every step, and
// world.quiesce what must hold in the end.
func TestRandomWorlds(t *testing.T) {
	if *randomSeed != 0 {
		w := newWorld(t, *randomSeed)
		w.verbose = testing.Verbose()
		w.run()
		t.Logf("seed %d: %v", *randomSeed, w.count)
		return
	}
	start := time.Now()
	seed := start.UnixNano()
	t.Logf("first seed %d", seed)
	total := counts{}
	n := 0
	for ; *randomSeeds > n || *randomSeeds == 0 && time.Since(start) < *randomTime; n++ {
		w := newWorld(t, seed+int64(n))
		w.run()
		total.add(w.count)
	}
	t.Logf("%d seeds: %v", n, total)
	if n >= 20 {
		total.requireAll(t)
	}
}

// TestStalledReplicaDoesNotKeepItsNode: the replica of node 1 stops applying,
// and everything else of it goes on. It loses its lease, and the group lets it
// go within 2*T: a node that renewed blindly would keep its key for ever.
func TestStalledReplicaDoesNotKeepItsNode(t *testing.T) {
	for seed := range int64(20) {
		w := newWorld(t, seed+1)
		w.verbose = testing.Verbose()
		w.calm()
		one, two := w.nodes[0], w.nodes[1]
		w.crown(two)
		first := one.ask(Ask{Claims: claims([]string{"a"}), Wait: true, TTL: ttlShort})
		w.until(time.Second, func() bool { return first.phase == callerHolds })
		second := two.ask(Ask{Claims: claims([]string{"a"}), Wait: true, TTL: ttlShort})
		w.until(time.Second, func() bool { return second.phase == callerQueued })
		one.stalled = true
		// It goes on asking for things, as a busy node does.
		for i := range 100 {
			w.after(time.Duration(i)*100*time.Millisecond, func() {
				one.ask(Ask{Claims: claims([]string{"b"}), Wait: true, TTL: ttlLong})
			})
		}
		// It may renew for T after it last saw a batch applied, and then the
		// group waits for T; for clocks that are 5 % off.
		w.until(ttlShort*21/10+ttlShort/2, func() bool { return second.phase == callerHolds })
		require.Equal(t, callerLost, first.phase, "seed %d", seed+1)
	}
}
