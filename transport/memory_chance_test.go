package transport_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/transport"
)

func TestDelay(t *testing.T) {
	t.Run("HoldsEachFrameForItsTime", func(t *testing.T) {
		network := newMemory(t, 1)
		in := listen(t, network, "b")
		link := dial(t, network, "a", "b")
		const least = 20 * time.Millisecond
		network.Delay("a", "b", least, least)
		before := time.Now()
		send(t, link, "late")
		require.Equal(t, "late", in.next(t))
		require.GreaterOrEqual(t, time.Since(before), least)
		require.Equal(t, transport.Stats{Sent: 1, Delayed: 1, Delivered: 1}, network.Stats("a", "b"))
	})
	t.Run("KeepsTheOrderOfALink", func(t *testing.T) {
		seed := rand.Int64()
		t.Logf("seed %d", seed)
		network := newMemory(t, seed)
		in := listen(t, network, "b")
		link := dial(t, network, "a", "b")
		for i := range 300 {
			// Long delays first and then none: a later frame is due earlier.
			network.Delay("a", "b", 0, time.Duration(300-i)*20*time.Microsecond)
			send(t, link, strconv.Itoa(i))
		}
		network.Heal("a", "b")
		send(t, link, "last")
		for i := range 300 {
			require.Equal(t, strconv.Itoa(i), in.next(t), "seed %d", seed)
		}
		require.Equal(t, "last", in.next(t), "not delayed itself, but behind those that are")
	})
	t.Run("IsOfItsDirectionOnly", func(t *testing.T) {
		network := newMemory(t, 1)
		inA := listen(t, network, "a")
		inB := listen(t, network, "b")
		ab, ba, cb := dial(t, network, "a", "b"), dial(t, network, "b", "a"), dial(t, network, "c", "b")
		network.Delay("a", "b", time.Hour, time.Hour)
		send(t, ab, "late")
		send(t, ba, "back")
		send(t, cb, "beside")
		require.Equal(t, "back", inA.next(t))
		require.Equal(t, "beside", inB.next(t))
	})
	t.Run("DoesNotOutliveTheNetwork", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "b")
		network.Delay("a", "b", time.Hour, time.Hour)
		send(t, dial(t, network, "a", "b"), "late")
		require.NoError(t, network.Close())
		require.EqualValues(t, 1, network.Stats("a", "b").Dropped)
	})
	t.Run("PutsBoundsInOrder", func(t *testing.T) {
		network := newMemory(t, 1)
		in := listen(t, network, "b")
		link := dial(t, network, "a", "b")
		network.Delay("a", "b", -time.Hour, -time.Minute)
		send(t, link, "now")
		require.Equal(t, "now", in.next(t))
		require.Zero(t, network.Stats("a", "b").Delayed, "counts as no delay")

		const least = 20 * time.Millisecond
		network.Delay("a", "b", least, 0)
		before := time.Now()
		send(t, link, "late")
		require.Equal(t, "late", in.next(t))
		require.GreaterOrEqual(t, time.Since(before), least)
	})
	t.Run("IsDrawnBetweenItsBounds", func(t *testing.T) {
		network := newMemory(t, 1)
		in := listen(t, network, "b")
		const most = 100 * time.Millisecond
		network.Delay("a", "b", 0, most)
		before := time.Now()
		for range 200 { // a link for each, so that none waits for another
			link := dial(t, network, "a", "b")
			send(t, link, "x")
			require.NoError(t, link.Close())
		}
		for range 200 {
			in.next(t)
		}
		require.GreaterOrEqual(t, time.Since(before), most/2, "all 200 draws in the lower half")
	})
}

// arrivals sends frames numbered from 0 through the faults that set makes and
// returns the numbers that arrive.
func arrivals(t *testing.T, seed int64, from, to string, frames int, set func(*transport.Memory)) []string {
	t.Helper()
	network := newMemory(t, seed)
	in := listen(t, network, to)
	link := dial(t, network, from, to)
	set(network)
	for i := range frames {
		send(t, link, strconv.Itoa(i))
	}
	network.HealAll()
	send(t, link, "end")
	var arrived []string
	for {
		text := in.next(t)
		if text == "end" {
			return arrived
		}
		arrived = append(arrived, text)
	}
}

func TestDrop(t *testing.T) {
	t.Run("TakesTheShareItWasGiven", func(t *testing.T) {
		seed := rand.Int64()
		t.Logf("seed %d", seed)
		const frames = 4000
		for _, probability := range []float64{0, 0.1, 0.5, 0.9, 1, -1, 2, math.NaN(), math.Inf(1), math.Inf(-1)} {
			arrived := arrivals(t, seed, "a", "b", frames, func(n *transport.Memory) { n.Drop("a", "b", probability) })
			clamped := probability
			if math.IsNaN(probability) || probability < 0 {
				clamped = 0
			}
			clamped = min(clamped, 1)
			// Ten standard deviations; none at 0 and 1.
			margin := 10 * math.Sqrt(frames*clamped*(1-clamped))
			require.InDelta(t, frames*(1-clamped), len(arrived), margin, "seed %d, probability %v", seed, probability)
		}
	})
	t.Run("IsCountedAndHasNoError", func(t *testing.T) {
		network := newMemory(t, 1)
		listen(t, network, "b")
		link := dial(t, network, "a", "b")
		network.Drop("a", "b", 1)
		network.Duplicate("a", "b", 1)
		network.Delay("a", "b", time.Hour, time.Hour)
		send(t, link, "1", "2")
		require.Equal(t, transport.Stats{Sent: 2, Dropped: 2}, network.Stats("a", "b"),
			"a frame that vanishes is neither duplicated nor delayed")
	})
}

func TestDuplicate(t *testing.T) {
	t.Run("DeliversTwiceInARow", func(t *testing.T) {
		network := newMemory(t, 1)
		in := listen(t, network, "b")
		link := dial(t, network, "a", "b")
		network.Duplicate("a", "b", 1)
		send(t, link, "1", "2")
		for _, want := range []string{"1", "1", "2", "2"} {
			require.Equal(t, want, in.next(t))
		}
		require.Equal(t, transport.Stats{Sent: 2, Duplicated: 2, Delivered: 4}, network.Stats("a", "b"))
	})
	t.Run("CopiesHaveTheirOwnMemory", func(t *testing.T) {
		network := newMemory(t, 1)
		in := make(inbox, 4)
		_, err := network.Listen("b", handler(func(frame []byte) error {
			in <- string(frame)
			clear(frame)
			return nil
		}))
		require.NoError(t, err)
		network.Duplicate("a", "b", 1)
		send(t, dial(t, network, "a", "b"), "twice")
		require.Equal(t, "twice", in.next(t))
		require.Equal(t, "twice", in.next(t))
	})
	t.Run("ACopyOnItsWayIsLostByACut", func(t *testing.T) {
		network := newMemory(t, 1)
		entered, leave := make(chan struct{}), make(chan struct{})
		_, err := network.Listen("b", handler(func([]byte) error { entered <- struct{}{}; <-leave; return nil }))
		require.NoError(t, err)
		network.Duplicate("a", "b", 1)
		send(t, dial(t, network, "a", "b"), "1")
		<-entered
		network.Cut("a", "b")
		close(leave)
		require.Equal(t, transport.Stats{Sent: 1, Duplicated: 1, Delivered: 1, Dropped: 1, LinksBroken: 1},
			requireBalance(t, network, "a", "b"))
	})
	t.Run("TakesTheShareItWasGiven", func(t *testing.T) {
		seed := rand.Int64()
		t.Logf("seed %d", seed)
		const frames = 4000
		arrived := arrivals(t, seed, "a", "b", frames, func(n *transport.Memory) { n.Duplicate("a", "b", 0.25) })
		require.InDelta(t, frames*1.25, len(arrived), 10*math.Sqrt(frames*0.25*0.75), "seed %d", seed)
	})
}

func TestMemoryReplaysFromItsSeed(t *testing.T) {
	seed := rand.Int64()
	t.Logf("seed %d", seed)
	const frames = 400
	half := func(from, to string) func(*transport.Memory) {
		return func(n *transport.Memory) { n.Drop(from, to, 0.5) }
	}
	first := arrivals(t, seed, "a", "b", frames, half("a", "b"))

	t.Run("TheSameSeedGivesTheSameFates", func(t *testing.T) {
		require.Equal(t, first, arrivals(t, seed, "a", "b", frames, half("a", "b")), "seed %d", seed)
	})
	t.Run("AnotherSeedGivesOthers", func(t *testing.T) {
		require.NotEqual(t, first, arrivals(t, seed+1, "a", "b", frames, half("a", "b")), "seed %d", seed)
	})
	t.Run("EachDirectionHasItsOwn", func(t *testing.T) {
		for _, other := range [][2]string{{"b", "a"}, {"a", "c"}, {"c", "b"}} {
			require.NotEqual(t, first, arrivals(t, seed, other[0], other[1], frames, half(other[0], other[1])), "seed %d", seed)
		}
		require.NotEqual(t, arrivals(t, seed, "ab", "c", frames, half("ab", "c")),
			arrivals(t, seed, "a", "bc", frames, half("a", "bc")), "names are not run together, seed %d", seed)
	})
	t.Run("TrafficOfOtherDirectionsDoesNotMatter", func(t *testing.T) {
		require.Equal(t, first, arrivals(t, seed, "a", "b", frames, func(n *transport.Memory) {
			half("a", "b")(n)
			listen(t, n, "c")
			link := dial(t, n, "a", "c")
			for i := range 50 {
				send(t, link, fmt.Sprint(i))
			}
		}), "seed %d", seed)
	})
	t.Run("OtherFaultsDoNotShiftWhatIsDropped", func(t *testing.T) {
		mixed := arrivals(t, seed, "a", "b", frames, func(n *transport.Memory) {
			half("a", "b")(n)
			n.Duplicate("a", "b", 0.5)
			n.Delay("a", "b", 0, 10*time.Microsecond)
		})
		var distinct []string
		for _, text := range mixed {
			if len(distinct) == 0 || distinct[len(distinct)-1] != text {
				distinct = append(distinct, text)
			}
		}
		require.Equal(t, first, distinct, "seed %d", seed)
		require.Greater(t, len(mixed), len(distinct), "some were duplicated")
	})
}
