package locktest_test

import (
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

func TestClock(t *testing.T) {
	clock := locktest.New(t, 1).Node(1).Clock()

	t.Run("AdvanceMovesItForward", func(t *testing.T) {
		before := clock.Elapsed()
		clock.Advance(time.Hour)
		require.GreaterOrEqual(t, clock.Elapsed(), before+time.Hour)
		require.Less(t, clock.Elapsed(), before+time.Hour+patience)
	})
	t.Run("AFrozenClockStandsStillUntilThawed", func(t *testing.T) {
		clock.Freeze()
		frozen := clock.Elapsed()
		clock.Freeze()
		require.Equal(t, frozen, clock.Elapsed())
		clock.Advance(time.Second)
		require.Equal(t, frozen+time.Second, clock.Elapsed())
		clock.SetRate(2)
		require.Equal(t, frozen+time.Second, clock.Elapsed())
		clock.Thaw()
		require.Eventually(t, func() bool { return clock.Elapsed() > frozen+time.Second }, patience, time.Millisecond)
		clock.SetRate(1)
	})
	t.Run("ARateScalesIt", func(t *testing.T) {
		clock.SetRate(1e6)
		start, began := clock.Elapsed(), time.Now()
		require.Eventually(t, func() bool { return time.Since(began) > time.Millisecond }, patience, time.Millisecond)
		passed := clock.Elapsed() - start
		require.Greater(t, passed, 900*time.Second)
		clock.SetRate(1)
	})
	t.Run("ItNeverGoesBack", func(t *testing.T) {
		stop := make(chan struct{})
		var changing sync.WaitGroup
		changing.Add(1)
		go func() {
			defer changing.Done()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				switch i % 5 {
				case 0:
					clock.SetRate(1000)
				case 1:
					clock.SetRate(0.001)
				case 2:
					clock.Freeze()
				case 3:
					clock.Thaw()
				case 4:
					clock.Advance(1)
				}
			}
		}()
		last := clock.Elapsed()
		for range 100_000 {
			now := clock.Elapsed()
			require.GreaterOrEqual(t, now, last)
			last = now
		}
		close(stop)
		changing.Wait()
	})
	t.Run("WhatMakesNoSenseFailsTheTest", func(t *testing.T) {
		for _, wrong := range []func(*locktest.Clock){
			func(c *locktest.Clock) { c.Advance(-1) },
			func(c *locktest.Clock) { c.SetRate(0) },
			func(c *locktest.Clock) { c.SetRate(-1) },
			func(c *locktest.Clock) { c.SetRate(math.NaN()) },
		} {
			require.True(t, run(t, func(t testing.TB) { wrong(locktest.New(t, 1).Node(1).Clock()) }).Failed())
		}
	})
}

func TestANodeCountsWithItsClock(t *testing.T) {
	c := locktest.New(t, 1)
	lease, err := c.Node(1).Coordinator().Acquire(patient(t), "key")
	require.NoError(t, err)
	c.Node(1).Clock().Advance(locktest.TTL)
	require.False(t, lease.Held(), "asked at once, without any wait")
	require.ErrorIs(t, lease.Err(), coordinator.ErrLeaseLost)

	t.Run("AndKeepsItThroughARestart", func(t *testing.T) {
		clock := c.Node(1).Clock()
		c.Node(1).Restart()
		require.Same(t, clock, c.Node(1).Clock())
		lease, err := c.Node(1).Coordinator().Acquire(patient(t), "key")
		require.NoError(t, err)
		clock.Advance(locktest.TTL)
		require.False(t, lease.Held())
	})

	t.Run("AndShowsItsWallClock", func(t *testing.T) {
		clock := c.Node(1).Clock()
		elapsed := clock.Elapsed()
		for _, shift := range []time.Duration{3 * time.Hour, -5 * time.Hour} { // in sum, back
			clock.ShiftWall(shift)
		}
		require.Less(t, clock.Elapsed()-elapsed, time.Hour, "another clock")
		lease, err := c.Node(1).Coordinator().Acquire(patient(t), "shown", coordinator.WithTTL(long))
		require.NoError(t, err)
		var info coordinator.KeyInfo
		for ctx := patient(t); ; { // a busy machine may take longer than Inspect waits
			info, err = c.Node(1).Coordinator().Inspect(ctx, "shown")
			if !errors.Is(err, coordinator.ErrUnavailable) || ctx.Err() != nil {
				break
			}
		}
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(-2*time.Hour), info.Holder.Since, time.Hour)
		require.True(t, lease.Held())
	})
}
