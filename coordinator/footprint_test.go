package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What requests leave behind that came to nothing, and what a start has to
// read. See memory_test.go for the numbers.

// S124: nodes fail to get keys, in every way: the key is taken, the wait ends,
// or the context has ended before. Each time it is another key, or a key that
// is held by a session, as the case calls the node.
func TestS124FailedAttemptsOnUniqueKeysLeaveNothing(t *testing.T) {
	c := openSingle(t)
	const held, attempts = 1000, 15_000 / sample
	var leases []*Lease
	for i := range held {
		lease, err := c.Acquire(context.Background(), fmt.Sprint("held ", i))
		require.NoError(t, err)
		leases = append(leases, lease)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	// Of three attempts the first is a try, the second times out in line, the
	// third has no chance from the beginning.
	var more atomic.Int64 // attempts that had no answer, or no place in line, in time
	attempt := func(from, to int) {
		eachOf(t, from, to, func(i int) error {
			var want, err error
			switch i % 3 {
			case 0:
				var again int64
				again, err = tryAnswered(c, fmt.Sprint("held ", i%held))
				more.Add(again)
				want = ErrBusy
			case 1:
				_, err = c.Acquire(context.Background(), fmt.Sprint("held ", i%held), WithWait(20*time.Millisecond))
				want = context.DeadlineExceeded
			case 2:
				_, err = c.Acquire(ended, fmt.Sprint("unique ", i))
				want = context.Canceled
			}
			if !errors.Is(err, want) {
				return fmt.Errorf("attempt %d: %w", i, err)
			}
			return nil
		})
	}
	const warmUp = 12_000 / sample
	attempt(0, warmUp)
	before := heapInUse()
	attempt(warmUp, warmUp+attempts)
	// None of these may have got in line before its time was over.
	for wait := 20 * time.Millisecond; c.Status().Timeouts == 0; wait *= 2 {
		_, err := c.Acquire(context.Background(), "held 0", WithWait(wait))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		more.Add(1)
	}
	awaitNoRequests(t, c, held)
	require.NoError(t, c.WaitReady(context.Background()))
	after := heapInUse()
	t.Logf("%d attempts: heap %d KiB before and %d KiB after, store %d KiB", attempts, before>>10, after>>10, c.store.DiskBytes()>>10)
	require.LessOrEqual(t, after, before+heapGrowthOfFewMax, "heap in use: %d bytes before, %d bytes after", before, after)
	s := c.Status()
	require.Equal(t, uint64(warmUp+attempts)/3+uint64(more.Load()), s.Timeouts+s.Unavailable)
	require.Equal(t, uint64(warmUp+attempts)/3, s.Busy)
	for _, lease := range leases {
		require.NoError(t, lease.Release(context.Background()))
	}
	awaitNoRequests(t, c, 0)
	requireNothingLeft(t, c)
}

// awaitNoRequests waits until the withdrawals in the background are over, and no
// requests are left but those of leases that are held.
func awaitNoRequests(t *testing.T, c *Coordinator, held int) {
	t.Helper()
	enough := time.NewTimer(time.Minute)
	defer enough.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for c.Status().Requests > held {
		select {
		case <-again.C:
		case <-enough.C:
			require.FailNow(t, "requests are left", "%d", c.Status().Requests)
		}
	}
}
