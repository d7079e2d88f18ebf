package expiry

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/clock"
	"github.com/palisade-go/palisade/statemachine"
)

func TestOffice(t *testing.T) {
	t.Run("NothingIsProposedOutsideIt", func(t *testing.T) {
		g := newGroup(t)
		g.lease(1, 2*second, second)
		g.restart(1)
		g.at(time.Minute)
		require.Equal(t, Plan{}, g.proposer.Due(g.now, g.machine))
		g.proposer.TakeOffice(g.now)
		require.NotEmpty(t, g.due().Batches)
		g.proposer.LeaveOffice()
		require.Equal(t, Plan{}, g.proposer.Due(g.now, g.machine))
	})

	t.Run("ANewLeaderGivesHalfOfT", func(t *testing.T) {
		g := newGroup(t)
		g.lease(1, 2*second, 0)
		g.at(1900 * time.Millisecond)
		g.proposer.TakeOffice(g.now)
		require.Empty(t, g.run(2900*time.Millisecond))
		require.Equal(t, g.expireOf(1, 2*second), g.one(g.due()))
	})

	t.Run("ANodeHeardInTheGraceLivesOn", func(t *testing.T) {
		g := newGroup(t)
		g.lease(1, 2*second, 0)
		g.at(1900 * time.Millisecond)
		g.proposer.TakeOffice(g.now)
		require.Empty(t, g.run(2800*time.Millisecond))
		g.send(1)
		require.Empty(t, g.run(4800*time.Millisecond))
		require.Len(t, g.due().Batches, 1)
	})

	t.Run("ElectionsMoreOftenThanTKeepNobodyAlivePastTwiceT", func(t *testing.T) {
		for _, every := range []time.Duration{2 * second / 10, 2 * second / 3, 14 * second / 10, 19 * second / 10} {
			t.Run(fmt.Sprintf("Every%v", every), func(t *testing.T) {
				g := led(t)
				g.lease(1, 2*second, 0)
				var proposed [][]statemachine.Command
				for next := every; len(proposed) == 0; next += every {
					require.Less(t, g.now, clock.Instant(4*second+every))
					proposed = g.run(min(next, 4*second))
					if g.now == clock.Instant(4*second) {
						proposed = append(proposed, g.due().Batches...)
						break
					}
					g.proposer.LeaveOffice()
					g.proposer.TakeOffice(g.now)
				}
				require.NotEmpty(t, proposed)
				require.GreaterOrEqual(t, g.now, clock.Instant(2*second))
				require.LessOrEqual(t, g.now, clock.Instant(4*second))
			})
		}
	})

	t.Run("WhatWasProposedInTheLastOneIsForgotten", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.run(2 * second)
		require.Len(t, g.due().Batches, 1)
		g.proposer.TakeOffice(g.now.Add(-10 * second))
		g.proposer.last = g.now
		require.Len(t, g.due().Batches, 1)
	})

	t.Run("IsLeftByALoopThatStoodStillForAQuarterOfTheSmallestT", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.lease(2, 8*second, 0)
		g.due()
		g.at(500 * time.Millisecond)
		g.due()
		g.at(1000*time.Millisecond + 1)
		require.Equal(t, Plan{Barrier: true}, g.proposer.Due(g.now, g.machine))
		require.False(t, g.proposer.InOffice())
		require.Equal(t, Plan{}, g.proposer.Due(g.now, g.machine), "a barrier has to be passed first")
	})

	t.Run("AfterAStallNobodyIsExpiredWithoutGrace", func(t *testing.T) {
		g := led(t)
		g.lease(1, 2*second, 0)
		g.due()
		g.at(2500 * time.Millisecond) // long past the deadline
		require.True(t, g.proposer.Due(g.now, g.machine).Barrier)
		g.proposer.TakeOffice(g.now)
		require.Empty(t, g.run(3500*time.Millisecond))
		require.Len(t, g.due().Batches, 1)
	})

	t.Run("AStallWithoutRequestsIsNone", func(t *testing.T) {
		g := led(t)
		g.send(1)
		g.due()
		g.at(time.Hour)
		g.due()
	})
}
