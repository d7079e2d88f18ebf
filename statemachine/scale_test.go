package statemachine

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/internal/usagetest"
)

// A key that is free and a request that is over leave nothing: not in the
// image, not in what is pending for it, not in memory.
func TestAMillionKeysLeaveNothing(t *testing.T) {
	const keys, batch = 1_000_000, 1000
	for name, atOnce := range map[string]int{"OneAfterTheOther": 1, "AHundredThousandAtOnce": keys / 10} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t)
			g.node(1)
			image := make(map[string]string)
			keepImage(image, g.m.TakeChanges())
			before := int(usagetest.Heap())
			acquired, released := 0, 0
			commands := make([]Command, 0, 2*batch)
			for released < keys {
				commands = commands[:0]
				for len(commands) < batch && released < keys {
					if acquired < keys && acquired-released < atOnce {
						acquired++
						commands = append(commands, acquire(Seq(acquired), fmt.Sprintf("key-%d", acquired)))
						continue
					}
					// Turn round: let all go before the next are taken.
					for acquired > released && len(commands) < 2*batch {
						released++
						commands = append(commands, Release{Seq: Seq(released)})
						if atOnce == 1 {
							break
						}
					}
				}
				g.node(1, commands...)
				keepImage(image, g.m.TakeChanges())
			}
			require.Zero(t, g.m.Stats())
			require.Equal(t, uint64(keys), g.m.Meta().Counter)
			require.Len(t, image, 1+len(testGenesis.Members))
			require.Equal(t, imageOf(g.m), image)
			image = nil
			commands = nil
			require.Less(t, int(usagetest.Heap())-before, 1<<20, "bytes of heap left")
			runtime.KeepAlive(g)
		})
	}
}

// leaseBytes is what a replica keeps of a lease of one claim, with its key: 128
// bytes of request, 16 of name, and its places in two tables.
const leaseBytes = 202

// The layout of a lease is part of the design: a million must be reasonable.
func TestALeaseIsSmall(t *testing.T) {
	const leases, batch = 200_000, 1000
	g := newGroup(t)
	before := int(usagetest.Heap())
	for first := 1; first <= leases; first += batch {
		var commands []Command
		for i := first; i < first+batch; i++ {
			commands = append(commands, acquire(Seq(i), fmt.Sprintf("invoice:%08d", i)))
		}
		g.node(1, commands...)
		g.m.TakeChanges()
	}
	each := (int(usagetest.Heap()) - before) / leases
	t.Logf("%d bytes a lease of one claim, with its key", each)
	require.Less(t, each, leaseBytes*115/100)
	runtime.KeepAlive(g)
}

// Leaving a queue from its middle costs the same whatever its length: a
// hundred thousand cancels in a queue of that many take a few times what they
// take in short queues, not ten thousand times.
func TestCancelsFromTheMiddleOfALongQueue(t *testing.T) {
	const waiters, tries = 100_000, 3 // a busy machine may hold up one
	for try := 1; ; try++ {
		short := cancelFromTheMiddle(t, waiters/10, 10)
		long := cancelFromTheMiddle(t, 1, waiters)
		t.Logf("in queues of 10: %v, in one queue of %d: %v", short, waiters, long)
		if long < 20*short+time.Second {
			return
		}
		require.Less(t, try, tries, "%v is too much", long)
	}
}

// cancelFromTheMiddle makes queues of equal length, lets every waiter cancel,
// those in the middle first, and returns the time that the cancels took.
func cancelFromTheMiddle(t *testing.T, keys, length int) time.Duration {
	g := newGroup(t)
	seq := Seq(0)
	for k := range keys {
		name := fmt.Sprintf("key-%d", k)
		g.node(1, acquire(Seq(k+1), name))
		for first := 0; first < length; first += CommandsMax {
			var commands []Command
			for range min(CommandsMax, length-first) {
				seq++
				commands = append(commands, waitFor(seq, name))
			}
			g.node(2, commands...)
		}
	}
	require.Equal(t, Stats{Leases: keys, Waits: keys * length, Keys: keys, LongestQueue: length}, g.m.Stats())
	start := time.Now()
	for i := range seq {
		g.node(2, Cancel{Seq: (seq/2+i)%seq + 1})
	}
	took := time.Since(start)
	require.Equal(t, Stats{Leases: keys, Keys: keys}, g.m.Stats())
	require.NoError(t, g.m.Check())
	return took
}

// A hand-over among requests of many claims looks at each claim once.
func TestHandOverOfManyClaims(t *testing.T) {
	g := newGroup(t)
	keys := manyKeys(ClaimsMax)
	g.node(1, acquire(1, keys...))
	for seq := Seq(1); seq <= 2000; seq++ {
		g.node(2, waitFor(seq, keys...))
	}
	for seq := Seq(1); seq <= 2000; seq++ {
		var events []Event
		if seq == 1 {
			events = g.node(1, Release{Seq: 1})
		} else {
			events = g.node(2, Release{Seq: seq - 1})
		}
		require.Equal(t, leaseID(2, seq), events[1].(Granted).Lease)
		require.Len(t, events, 2)
	}
	require.NoError(t, g.m.Check())
}
