package raftnode

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// follower is what decides when a follower of the engine stands for election, and
// whether it votes. Time is in election timeouts.
type follower struct {
	ticks    int     // in an election timeout
	phase    float64 // of its first tick after time 0
	since    float64 // when it began to count
	patience int     // how many ticks it counts
	led      bool    // it knows of a leader: it votes only after an election timeout
}

func newFollower(random *rand.Rand, ticks int) *follower {
	f := &follower{ticks: ticks, phase: random.Float64() / float64(ticks), led: true}
	f.wait(random, 0)
	return f
}

func (f *follower) wait(random *rand.Rand, now float64) {
	f.since, f.patience = now, f.ticks+random.IntN(f.ticks)
}

// ticked returns how many ticks there were until now.
func (f *follower) ticked(now float64) int {
	return int((now-f.phase)*float64(f.ticks) + 1)
}

// stands returns when it stands for election.
func (f *follower) stands() float64 {
	return f.phase + float64(f.ticked(f.since)+f.patience-1)/float64(f.ticks)
}

func (f *follower) votes(now float64) bool {
	return !f.led || f.ticked(now)-f.ticked(f.since) >= f.ticks
}

// succeed returns how long two followers take from the death of their leader to a
// majority for one of them. The last heartbeat came at time 0.
func succeed(random *rand.Rand, ticks, heartbeat int) float64 {
	const way = 0.001 // how long a message takes
	death := random.Float64() * float64(heartbeat) / float64(ticks)
	first, second := newFollower(random, ticks), newFollower(random, ticks)
	for {
		if second.stands() < first.stands() {
			first, second = second, first
		}
		now := first.stands()
		first.led = false
		switch {
		case !second.votes(now + way):
			first.wait(random, now)
		case second.stands() < now+2*way: // each has voted for itself
			second.led = false
			first.wait(random, now)
			second.wait(random, second.stands())
		default:
			return now + 4*way - death // asked first whether it may ask
		}
	}
}

// TestFinerTicksWouldNotFindADeadLeaderSooner computes the table of docs/time.md.
func TestFinerTicksWouldNotFindADeadLeaderSooner(t *testing.T) {
	type row struct{ mean, half, nine, last float64 }
	random := rand.New(rand.NewPCG(1, 2))
	compute := func(ticks, heartbeat int) row {
		const deaths = 100_000
		gaps, sum := make([]float64, deaths), 0.0
		for i := range gaps {
			gaps[i] = succeed(random, ticks, heartbeat)
			sum += gaps[i]
		}
		slices.Sort(gaps)
		return row{sum / deaths, gaps[deaths/2], gaps[deaths/10*9], gaps[deaths/100*99]}
	}
	for _, c := range []struct {
		ticks, heartbeat int
		want             row
	}{
		{electionTicks, heartbeatTicks, row{1.24, 1.20, 1.59, 1.82}},
		{50, 5, row{1.28, 1.24, 1.63, 1.87}},
	} {
		got := compute(c.ticks, c.heartbeat)
		t.Logf("%d ticks: %.3f", c.ticks, got)
		for _, pair := range [][2]float64{{c.want.mean, got.mean}, {c.want.half, got.half}, {c.want.nine, got.nine}, {c.want.last, got.last}} {
			require.InDelta(t, pair[0], pair[1], 0.01, "docs/time.md has to say something else")
		}
	}
}
