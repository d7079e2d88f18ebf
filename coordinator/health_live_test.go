package coordinator

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/inject"
)

// barrier blocks whoever comes to it while it is down.
type barrier struct {
	mu      sync.Mutex
	lifted  chan struct{} // nil: it is not down
	entered chan struct{} // has room for one: somebody is blocked
}

func newBarrier() *barrier { return &barrier{entered: make(chan struct{}, 1)} }

func (b *barrier) pass() {
	b.mu.Lock()
	lifted := b.lifted
	b.mu.Unlock()
	if lifted == nil {
		return
	}
	select {
	case b.entered <- struct{}{}:
	default:
	}
	<-lifted
}

func (b *barrier) lower() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lifted = make(chan struct{})
}

func (b *barrier) lift() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lifted != nil {
		close(b.lifted)
		b.lifted = nil
	}
}

// A loop that is blocked by what it calls is found by its turn alone, and by
// nothing but the time that this has lasted.
func TestLiveFindsALoopThatIsStuck(t *testing.T) {
	for _, which := range []struct {
		loop string
		env  func(*barrier) inject.Env
		turn func(*Coordinator) (time.Time, bool)
	}{
		{
			// What listens to the replica runs in the apply loop.
			"apply",
			func(b *barrier) inject.Env { return inject.Env{Moved: b.pass} },
			func(c *Coordinator) (time.Time, bool) { return c.node.ApplyingSince(1) },
		},
		{
			// The wall clock is asked by the loop that makes batches, and by
			// nobody else.
			"renew",
			func(b *barrier) inject.Env {
				return inject.Env{Wall: func() time.Time { b.pass(); return time.Now() }}
			},
			func(c *Coordinator) (time.Time, bool) { return c.groups[0].turn.Since() },
		},
	} {
		t.Run("The"+which.loop+"LoopIsNamed", func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			b := newBarrier()
			c, err := Open(inject.With(ctx, which.env(b)), Config{Dir: t.TempDir(), Groups: 1})
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			defer b.lift()
			_, err = c.Acquire(ctx, "before")
			require.NoError(t, err)

			b.lower()
			acquired := make(chan error, 1)
			go func() {
				_, err := c.Acquire(ctx, "key")
				acquired <- err
			}()
			select {
			case <-b.entered:
			case <-ctx.Done():
				require.FailNow(t, "nothing was blocked")
			}
			since, busy := which.turn(c)
			require.True(t, busy)
			require.NoError(t, c.liveAt(since.Add(StuckAfter-1)))
			err = c.liveAt(since.Add(StuckAfter))
			require.EqualError(t, err, "palisade: Live (not applied): the "+which.loop+" loop of group 1 is stuck since "+
				since.UTC().Format(time.RFC3339)+", for 30s")
			require.NoError(t, c.Ready(), "it is not what Ready is about")

			b.lift()
			require.NoError(t, <-acquired)
			require.Eventually(t, func() bool { return c.liveAt(time.Now().Add(time.Hour)) == nil }, time.Minute, time.Millisecond,
				"a loop that goes on is live again")
		})
	}
}

func TestLiveNamesEveryLoopThatIsStuck(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := Open(ctx, Config{Dir: t.TempDir(), Groups: 3})
	require.NoError(t, err)
	require.NoError(t, c.Close(), "so that the loops touch nothing")
	require.NoError(t, c.liveAt(time.Now().Add(time.Hour)))
	c.groups[0].turn.Begin()
	c.groups[2].turn.Begin()
	err = c.liveAt(time.Now().Add(time.Hour))
	require.ErrorContains(t, err, "renew loop of group 1")
	require.NotContains(t, err.Error(), "group 2")
	require.ErrorContains(t, err, "renew loop of group 3")
}

func TestStuckAfterIsThatOfTheComment(t *testing.T) {
	require.Equal(t, 30*time.Second, StuckAfter)
	require.Equal(t, 2*DefaultTTL, StuckAfter)
}

// A node that may not speak for its id is no reason to end the process: the
// program learns of it from Status.
func TestANodeThatHadToStopIsLiveAndNotReady(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := Open(ctx, Config{Dir: t.TempDir(), Groups: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	require.NoError(t, c.WaitReady(ctx))
	c.fail(context.DeadlineExceeded)
	require.NoError(t, c.Live())
	require.ErrorIs(t, c.Ready(), ErrClosed)
	require.ErrorIs(t, c.Ready(), context.DeadlineExceeded)
}
