package expiry

import (
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

const second = time.Second

// expireOf is the Expire that names the last batch of a node's first
// incarnation.
func (g *group) expireOf(node statemachine.NodeID, ttl time.Duration) statemachine.Expire {
	s := g.nodes[node]
	return statemachine.Expire{Node: node, Incarnation: s.incarnation, Last: s.batch, TTL: ttl}
}

func TestExpire(t *testing.T) {
	t.Run("IsProposedWhenTHasPassedAndNotBefore", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		require.Empty(t, g.run(2*second))
		require.Equal(t, g.expireOf(1, 2*second), g.one(g.due()))
	})

	t.Run("CountsFromTheLastBatch", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		require.Empty(t, g.run(1500*time.Millisecond))
		g.send(1)
		require.Empty(t, g.run(3500*time.Millisecond))
		require.Equal(t, g.expireOf(1, 2*second), g.one(g.due()))
	})

	t.Run("CountsFromTheLastBatchHoweverManyThereWere", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		for heard := second; heard <= 10*second; heard += second {
			require.Empty(t, g.run(heard))
			g.send(1)
		}
		require.Empty(t, g.run(12*second))
		require.Equal(t, g.expireOf(1, 2*second), g.one(g.due()))
	})

	t.Run("IsNotProposedOfANodeWithoutRequests", func(t *testing.T) {
		g := led(t)
		g.send(1)
		require.Empty(t, g.run(time.Minute))
	})

	t.Run("CoversWaits", func(t *testing.T) {
		g := led(t)
		id := g.lease(1, time.Hour, 0)
		g.due()
		lease, _ := g.machine.Lease(id)
		g.send(2, statemachine.Acquire{Seq: 1, Claims: lease.Claims, Wait: true, TTL: 2 * second})
		require.True(t, g.sooner, "the pace was that of an hour")
		require.Empty(t, g.run(2*second))
		require.Equal(t, g.expireOf(2, 2*second), g.one(g.due()))
	})

	t.Run("NamesTheLargestTThatIsDue", func(t *testing.T) {
		g := led(t)
		for _, ttl := range []time.Duration{3 * second, second, 2 * second} {
			g.lease(1, ttl, 0)
		}
		g.proposer.TakeOffice(g.now)
		for g.now < clock.Instant(2500*time.Millisecond) {
			g.proposer.last = g.now // the loop was busy elsewhere
			g.now = g.now.Add(100 * time.Millisecond)
		}
		g.proposer.last = g.now
		require.Equal(t, g.expireOf(1, 2*second), g.one(g.due()))
	})

	t.Run("IsProposedAnewWhenALargerTFallsDue", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.lease(1, 2*second+retry/2, 0)
		require.Empty(t, g.run(2*second))
		require.Equal(t, g.expireOf(1, 2*second), g.one(g.due()))
		require.Empty(t, g.due().Batches)
		require.Empty(t, g.run(2*second+retry/2))
		require.Equal(t, g.expireOf(1, 2*second+retry/2), g.one(g.due()))
	})

	t.Run("ThatWasLostIsProposedAgainAfterTheRetryInterval", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.run(2 * second)
		require.Len(t, g.due().Batches, 1)
		require.Empty(t, g.run(2*second+retry))
		require.Equal(t, g.expireOf(1, 2*second), g.one(g.due()))
	})

	t.Run("IsNotProposedAgainWhenTheNodeWasHeard", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.run(2 * second)
		lost := g.due().Batches
		g.send(1)
		require.Empty(t, g.run(3*second))
		g.carry(lost) // it arrives after all
		require.False(t, g.sooner)
		require.Equal(t, 1, g.machine.Stats().Leases, "it named an older batch")
		require.Empty(t, g.due().Batches)
	})

	t.Run("IsDroppedOnceItTookEffect", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.run(2 * second)
		g.carry(g.due().Batches)
		require.Zero(t, g.machine.Stats().Leases)
		require.Empty(t, g.run(10*second))
	})

	t.Run("GoesOnAtOnceWhileSlicesLeaveARest", func(t *testing.T) {
		g := led(t)
		const leases = 2*statemachine.SliceMax + statemachine.SliceMax/2
		for range leases {
			g.lease(1, 2*second, 0)
		}
		g.run(2 * second)
		for _, rest := range []int{leases - statemachine.SliceMax, statemachine.SliceMax / 2, 0} {
			plan := g.due()
			require.Equal(t, g.expireOf(1, 2*second), g.one(plan))
			require.Empty(t, g.due().Batches, "one slice at a time")
			g.carry(plan.Batches)
			require.True(t, g.sooner)
			require.Equal(t, rest, g.machine.Stats().Leases)
		}
		require.Empty(t, g.due().Batches)
	})

	t.Run("NamesNoBatchThatWasNotHeard", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.run(2 * second)
		// A batch is in the machine that the proposer was not told of.
		s := g.nodes[1]
		s.batch++
		g.index++
		g.machine.Apply(g.index, statemachine.Batch{
			Node: 1, Directory: statemachine.DirectoryID{1}, Incarnation: 1, Number: s.batch,
		})
		require.Empty(t, g.run(4*second))
		require.Equal(t, g.expireOf(1, 2*second), g.one(g.due()))
	})
}

func TestResetCountsEveryPresenceAsHeardNowAndEveryLimitAsGrantedNow(t *testing.T) {
	g := led(t)
	g.lease(1, 2*second, 0)
	limited := g.lease(2, time.Hour, 2*second)
	g.run(1900 * time.Millisecond)
	g.proposer.Reset(g.now, g.machine)
	require.False(t, g.proposer.InOffice())
	g.proposer.TakeOffice(g.now)
	require.Empty(t, g.run(3900*time.Millisecond))
	require.Equal(t, [][]statemachine.Command{
		{g.expireOf(1, 2*second)}, {statemachine.ExpireLimit{Lease: limited}},
	}, g.due().Batches)
}

func TestResetForgetsWhatTheStateDoesNotHave(t *testing.T) {
	g := led(t)
	g.lease(1, time.Hour, second)
	g.proposer.Reset(g.now, newGroup(t).machine)
	require.Empty(t, g.proposer.limits.entries)
	require.Empty(t, g.proposer.limits.byLease)
	require.Zero(t, g.proposer.marks[1].incarnation)
}

func TestSweep(t *testing.T) {
	t.Run("OfAGoneIncarnationIsProposedAtOnce", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.due()
		g.restart(1)
		require.True(t, g.sooner)
		plan := g.due()
		require.Equal(t, statemachine.Sweep{Node: 1}, g.one(plan))
		g.carry(plan.Batches)
		require.Zero(t, g.machine.Stats().Leases)
		require.Empty(t, g.due().Batches)
	})

	t.Run("OfANodeThatLeftIsProposedAtOnceAndInsteadOfExpire", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.run(1900 * time.Millisecond)
		g.send(1, statemachine.Leave{})
		require.True(t, g.sooner)
		require.Equal(t, statemachine.Sweep{Node: 1}, g.one(g.due()))
		again := g.run(5 * second)
		require.NotEmpty(t, again)
		for _, commands := range again {
			require.Equal(t, []statemachine.Command{statemachine.Sweep{Node: 1}}, commands)
		}
	})

	t.Run("GoesOnAtOnceWhileSlicesLeaveARest", func(t *testing.T) {
		g := led(t)
		for range statemachine.SliceMax + 1 {
			g.lease(1, 2*second, 0)
		}
		g.restart(1)
		for _, rest := range []int{1, 0} {
			plan := g.due()
			require.Equal(t, statemachine.Sweep{Node: 1}, g.one(plan))
			require.Empty(t, g.due().Batches)
			g.carry(plan.Batches)
			require.True(t, g.sooner)
			require.Equal(t, rest, g.machine.Stats().Leases)
		}
		require.Empty(t, g.due().Batches)
	})

	t.Run("ThatWasLostIsProposedAgainWhileItsNodeIsHeard", func(t *testing.T) {
		g := led(t)
		g.lease(1, time.Hour, 0)
		g.restart(1)
		require.Len(t, g.due().Batches, 1)
		g.at(retry / 2)
		g.send(1)
		require.Empty(t, g.due().Batches)
		g.at(retry)
		require.Equal(t, statemachine.Sweep{Node: 1}, g.one(g.due()))
	})
}

func TestUpgradeIsNotProposedToAVersionThatTheGroupHas(t *testing.T) {
	g := led(t)
	for node := statemachine.NodeID(1); node <= 3; node++ {
		g.send(node)
	}
	require.Empty(t, g.run(time.Minute))
}

func TestWake(t *testing.T) {
	t.Run("IsASecondWithoutRequests", func(t *testing.T) {
		g := led(t)
		require.Equal(t, g.now.Add(second), g.due().Wake)
	})

	t.Run("IsASixteenthOfTheSmallestT", func(t *testing.T) {
		g := led(t)
		g.lease(1, 8*second, 0)
		g.lease(2, 4*second, 0)
		require.Equal(t, g.now.Add(250*time.Millisecond), g.due().Wake)
	})

	t.Run("IsAtMostASecond", func(t *testing.T) {
		g := led(t)
		g.lease(1, time.Hour, 0)
		require.Equal(t, g.now.Add(second), g.due().Wake)
	})

	t.Run("IsTheDeadlineWhenThatComesFirst", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.run(1950 * time.Millisecond)
		require.Equal(t, clock.Instant(2*second), g.due().Wake)
	})

	t.Run("IsTheLimitWhenThatComesFirst", func(t *testing.T) {
		g := led(t)
		g.lease(1, time.Hour, 100*time.Millisecond)
		require.Equal(t, g.now.Add(100*time.Millisecond), g.due().Wake)
	})

	t.Run("IsTheRetryWhenThatComesFirst", func(t *testing.T) {
		g := led(t)
		g.lease(1, 16*second, 0)
		g.run(16 * second)
		require.Len(t, g.due().Batches, 1)
		require.Equal(t, g.now.Add(retry), g.due().Wake)
	})

	t.Run("ANewLeaseWithASmallerTAsksForAnEarlierOne", func(t *testing.T) {
		g := led(t)
		g.due()
		g.lease(1, 4*second, 0)
		require.True(t, g.sooner)
		g.due()
		g.lease(1, 4*second, 0)
		require.False(t, g.sooner)
	})

	t.Run("AHostileTDoesNotMakeTheLoopSpin", func(t *testing.T) {
		g := led(t)
		g.lease(1, 1, 0)
		g.at(time.Millisecond)
		plan := g.due()
		require.Len(t, plan.Batches, 1)
		require.GreaterOrEqual(t, plan.Wake, g.now.Add(time.Millisecond))
	})
}

// TestEqualReplicasMakeEqualPlans feeds two Proposers the same and compares
// all they say: no result depends on the order of a map.
func TestEqualReplicasMakeEqualPlans(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	history := func() []Plan {
		random := rand.New(rand.NewSource(seed))
		g := led(t)
		var plans []Plan
		for range 2_000 {
			node := statemachine.NodeID(1 + random.Intn(3))
			switch random.Intn(12) {
			case 0, 1, 2, 3:
				limit := time.Duration(random.Intn(3)) * second
				g.lease(node, time.Duration(1+random.Intn(4))*second, limit)
			case 4:
				g.restart(node)
			case 5:
				g.proposer.TakeOffice(g.now)
			case 6:
				g.proposer.Reset(g.now, g.machine)
				g.proposer.TakeOffice(g.now)
			case 7:
				g.send(node)
			default:
				g.now = g.now.Add(time.Duration(random.Intn(400)) * time.Millisecond)
				plan := g.proposer.Due(g.now, g.machine)
				plans = append(plans, plan)
				if plan.Barrier {
					g.proposer.TakeOffice(g.now)
				}
				if random.Intn(2) == 0 {
					g.carry(plan.Batches)
				}
			}
		}
		return plans
	}
	first := history()
	require.NotEmpty(t, first)
	require.Equal(t, first, history())
}
