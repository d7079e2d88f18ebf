package keeper

import (
	"flag"
	"math/rand"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/internal/usagetest"
	"github.com/palisade-go/palisade/statemachine"
)

var replay = flag.Int64("seed", 0, "the seed to replay; 0 draws a new one")

func at(d time.Duration) clock.Instant { return clock.Instant(d) }

// TestG3LossNeedsNoMessage: from the first send of the last batch seen applied,
// the clock alone ends a lease, at 0.9*T, which for clocks that are 5 % off is
// before any replica may propose the expiry.
func TestG3LossNeedsNoMessage(t *testing.T) {
	for _, ttl := range []time.Duration{time.Nanosecond, 4 * time.Second, 15 * time.Second, 24 * time.Hour} {
		t.Run(ttl.String(), func(t *testing.T) {
			k := New()
			k.Sent(at(time.Hour))
			k.Heard(at(time.Hour))
			k.Hold(1, ttl, 0, 0)
			end := at(time.Hour).Add(Window(ttl))
			require.Empty(t, k.TakeOver(end-1))
			require.Equal(t, []Over{{1, TTLPassed}}, k.TakeOver(end))

			// In true time, with the holder's clock slow and the replica's fast.
			holder := float64(Window(ttl)) / 0.95
			replica := float64(ttl) / 1.05
			if ttl > time.Nanosecond {
				require.Less(t, holder, replica)
			}
		})
	}
}

func TestWindowIsNineTenths(t *testing.T) {
	require.Equal(t, 9*time.Second, Window(10*time.Second))
	require.Equal(t, 13500*time.Millisecond, Window(15*time.Second))
	require.Equal(t, time.Duration(0), Window(0))
	require.Positive(t, Window(24*time.Hour))
}

func TestWakeIsAtMostASixteenthAndASecondAway(t *testing.T) {
	for _, ttl := range []time.Duration{1600 * time.Millisecond, 4 * time.Second, 16 * time.Second, time.Hour} {
		k := New()
		k.Hold(1, ttl, 0, 0)
		k.Sent(0)
		k.Heard(0)
		next, ok := k.Next(0)
		require.True(t, ok)
		require.Equal(t, at(min(ttl/16, time.Second)), next)
	}
}

// TestCostDoesNotGrowWithTheEntries keeps a million leases, takes away all
// that is there once for each of them, and finds that a renewal and Next give
// the same: so they can't have looked at it.
func TestCostDoesNotGrowWithTheEntries(t *testing.T) {
	const entries = 1_000_000
	before := usagetest.Heap()
	k := New()
	for seq := range statemachine.Seq(entries) {
		limit := time.Duration(0)
		if seq%2 == 0 {
			limit = time.Hour
		}
		k.Hold(seq+1, 10*time.Second, limit, at(time.Duration(seq)))
	}
	require.Len(t, k.ttls, 1, "one entry for each distinct TTL")
	require.Len(t, k.paces, 2)
	bare := *k
	bare.classes, bare.limited, bare.limits = nil, nil, k.limits[:1]

	now := clock.Instant(0)
	renew := func(k *Keeper) (renewAt, next clock.Instant) {
		k.Sent(now)
		k.Heard(now)
		renewAt, ok := k.RenewAt()
		require.True(t, ok)
		next, ok = k.Next(now)
		require.True(t, ok)
		return renewAt, next
	}
	for range 10 {
		renewAt, next := renew(k)
		bareRenewAt, bareNext := renew(&bare)
		require.Equal(t, bareRenewAt, renewAt)
		require.Equal(t, bareNext, next)
		require.Empty(t, k.TakeOver(now))
		require.Empty(t, bare.TakeOver(now))
		now = renewAt
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { renew(k); k.TakeOver(now) }))

	// All that is over costs what is over, and leaves nothing.
	bare = Keeper{}
	require.Len(t, k.TakeOver(now.Add(10*time.Second)), entries)
	require.Zero(t, k.Pace())
	require.Empty(t, k.classes)
	require.Empty(t, k.paces)
	require.Less(t, usagetest.Heap()-before, int64(1<<20), "bytes that a million leases leave behind")
	runtime.KeepAlive(k)
}

// naive is what the Keeper is for, the slow way.
type naive struct {
	entries  map[statemachine.Seq]naiveEntry
	heard    clock.Instant
	hasHeard bool
}

type naiveEntry struct {
	ttl, limit time.Duration
	held       bool
	send       clock.Instant
}

func (n *naive) over(now clock.Instant) (over []Over) {
	for seq, e := range n.entries {
		switch {
		case n.hasHeard && now >= n.heard.Add(e.ttl*9/10):
			over = append(over, Over{seq, TTLPassed})
		case e.held && e.limit > 0 && now >= e.send.Add(e.limit*9/10):
			over = append(over, Over{seq, LimitPassed})
		default:
			continue
		}
		delete(n.entries, seq)
	}
	slices.SortFunc(over, func(a, b Over) int { return int(a.Seq) - int(b.Seq) })
	return over
}

func (n *naive) pace() (pace time.Duration) {
	for _, e := range n.entries {
		for _, d := range []time.Duration{e.ttl, e.limit} {
			if d > 0 && (pace == 0 || d < pace) {
				pace = d
			}
		}
	}
	return pace
}

// nextEnd is when the first window ends, should nothing more be heard.
func (n *naive) nextEnd() (end clock.Instant, ok bool) {
	for _, e := range n.entries {
		if n.hasHeard && (!ok || n.heard.Add(e.ttl*9/10) < end) {
			end, ok = n.heard.Add(e.ttl*9/10), true
		}
		if e.held && e.limit > 0 && (!ok || e.send.Add(e.limit*9/10) < end) {
			end, ok = e.send.Add(e.limit*9/10), true
		}
	}
	return end, ok
}

// TestAgreesWithANaiveModel gives both the same random inputs.
func TestAgreesWithANaiveModel(t *testing.T) {
	seed := *replay
	if seed == 0 {
		seed = time.Now().UnixNano()
	}
	t.Logf("replay with: go test ./coordinator/internal/keeper -run %s -seed %d", t.Name(), seed)
	random := rand.New(rand.NewSource(seed))
	durations := []time.Duration{4 * time.Second, 10 * time.Second, 30 * time.Second}
	for range 200 {
		k, n := New(), &naive{entries: map[statemachine.Seq]naiveEntry{}}
		now := clock.Instant(0)
		for range 100 {
			now = now.Add(time.Duration(random.Int63n(int64(2 * time.Second))))
			require.Equal(t, n.over(now), k.TakeOver(now))
			seq := statemachine.Seq(1 + random.Intn(8))
			e := naiveEntry{ttl: durations[random.Intn(3)], send: now - clock.Instant(random.Int63n(int64(time.Second)))}
			if random.Intn(2) == 0 {
				e.limit = durations[random.Intn(3)]
			}
			switch random.Intn(5) {
			case 0:
				send := now - clock.Instant(random.Int63n(int64(6*time.Second)))
				k.Heard(send)
				if !n.hasHeard || send > n.heard {
					n.heard, n.hasHeard = send, true
				}
			case 1:
				e.held = true
				k.Drop(seq, n.entries[seq].ttl)
				k.Hold(seq, e.ttl, e.limit, e.send)
				n.entries[seq] = e
			case 2:
				k.Drop(seq, n.entries[seq].ttl)
				k.Wait(seq, e.ttl, e.limit)
				n.entries[seq] = e
			case 3:
				k.Drop(seq, n.entries[seq].ttl)
				delete(n.entries, seq)
			case 4:
				limitOver := e.limit > 0 && now >= e.send.Add(e.limit*9/10)
				usable := n.hasHeard && now < n.heard.Add(e.ttl*9/10) && !limitOver
				require.Equal(t, usable, k.Usable(now, e.ttl, e.limit, e.send))
			}
			require.Equal(t, n.pace(), k.Pace())
			next, kept := k.Next(now)
			require.Equal(t, len(n.entries) > 0, kept)
			if end, ok := n.nextEnd(); ok {
				require.LessOrEqual(t, next, end, "wakes at the end of the first window")
			}
			if kept {
				require.LessOrEqual(t, next, now.Add(min(k.Pace()/16, WakeMax)))
			}
		}
	}
}
