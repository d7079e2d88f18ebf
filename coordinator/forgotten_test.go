package coordinator_test

import (
	"context"
	"log/slog"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

// What becomes of a lease that its holder has forgotten without a Release.

func TestAForgottenLeaseIsReleasedAndLoggedOnce(t *testing.T) {
	t.Parallel()
	log := &forgottenLog{}
	c := newCluster(t, 3, locktest.WithLogger(slog.New(log)))
	n, other := c.Node(1), c.Node(2)
	logged := func(t *testing.T, key string, fence any) {
		t.Helper()
		collectAll(t)
		records := log.of(key)
		require.Len(t, records, 1)
		require.Equal(t, slog.LevelWarn, records[0].level)
		require.Equal(t, coordinator.NodeID(1), records[0].node)
		require.Equal(t, fence.(token.Token).String(), records[0].token)
	}
	t.Run("AndTheNextInLineGetsIt", func(t *testing.T) {
		was := forget(t, n, "key", fence)
		next := ask(t, other, "key")
		awaitLine(t, c, other, "key", 1)
		advance(c, long/10, 1)
		awaitCollected(t, c, "the next owner", next.answered)
		require.Greater(t, next.granted().Token(), was)
		logged(t, "key", was)
		require.GreaterOrEqual(t, log.of("key")[0].held, long/10)
		require.Less(t, log.of("key")[0].held, long/10+patience)
		release(t, next.lease)
	})
	t.Run("ASetAsAWhole", func(t *testing.T) {
		keys := []string{c.KeyIn(1, "a"), c.KeyIn(2, "b"), c.KeyIn(3, "c")}
		was := forgetSet(t, n, keys, func(s *coordinator.LeaseSet) any {
			fence, _ := s.Token(keys[0])
			return fence
		})
		for _, key := range keys {
			awaitFree(t, c, other, key)
		}
		logged(t, keys[0]+" and 2 more", was)
	})
	t.Run("OneThatIsSharedByItsIDWhenBothHaveForgottenIt", func(t *testing.T) {
		id := coordinator.WithRequestID("id")
		one := forget(t, n, "shared", func(l *coordinator.Lease) any { return l }, id).(*coordinator.Lease)
		was := forget(t, n, "shared", fence, id)
		collectAll(t)
		require.NoError(t, one.Err())
		require.Empty(t, log.of("shared"))
		runtime.KeepAlive(one)
		awaitFree(t, c, other, "shared")
		logged(t, "shared", was)
	})
	t.Run("DuringAShutdownWhichThenGoesOn", func(t *testing.T) {
		was := forget(t, n, "last", fence)
		stopped := make(chan error, 1)
		go func() { stopped <- n.Coordinator().Shutdown(patient(t)) }()
		awaitCollected(t, c, "the end of Shutdown", func() bool { return len(stopped) == 1 })
		require.NoError(t, <-stopped)
		logged(t, "last", was)
	})
}

func TestALeaseThatCanBeObservedIsNotForgotten(t *testing.T) {
	t.Parallel()
	type freed struct {
		bound  context.Context
		unbind context.CancelFunc
	}
	for _, kept := range []struct {
		name string
		keep func(*coordinator.Lease) any
		// letGo does what is needed before it is forgotten; nil: it never is,
		// because a channel was handed out.
		letGo func(any)
	}{
		{"ByItself", func(l *coordinator.Lease) any { return l }, func(any) {}},
		{"ByACopy", func(l *coordinator.Lease) any { return *l }, func(any) {}},
		{"ByItsContext", func(l *coordinator.Lease) any { return l.Context() }, func(any) {}},
		{"ByABoundContext", func(l *coordinator.Lease) any {
			bound, unbind := l.Bind(context.Background())
			return freed{bound, unbind}
		}, func(f any) { f.(freed).unbind() }},
		{"ByTheChannelOfABoundContext", func(l *coordinator.Lease) any {
			bound, unbind := l.Bind(context.Background())
			t.Cleanup(unbind)
			return bound.Done()
		}, nil},
		{"ByDone", func(l *coordinator.Lease) any { return l.Done() }, nil},
		{"ByEndangered", func(l *coordinator.Lease) any { return l.Endangered() }, nil},
		{"ByTheChannelOfItsContext", func(l *coordinator.Lease) any { return l.Context().Done() }, nil},
		{"ByTheChannelOfADerivedContext", func(l *coordinator.Lease) any {
			derived, cancel := context.WithCancel(l.Context())
			t.Cleanup(cancel)
			return derived.Done()
		}, nil},
	} {
		t.Run(kept.name, func(t *testing.T) {
			log := &forgottenLog{}
			c := newCluster(t, 1, locktest.WithLogger(slog.New(log)))
			n := c.Node(1)
			what := forget(t, n, "key", kept.keep)
			collectAll(t)
			require.NotNil(t, inspect(t, n, "key").Holder)
			require.Empty(t, log.of("key"))
			if kept.letGo != nil {
				kept.letGo(what)
				runtime.KeepAlive(what)
				what = nil
				awaitFree(t, c, n, "key")
				collectAll(t)
				require.Len(t, log.of("key"), 1)
				return
			}
			ended := what.(<-chan struct{})
			select {
			case <-ended:
				require.FailNow(t, "the channel is closed")
			default:
			}
			advance(c, long, 1)
			<-ended
			awaitFree(t, c, n, "key")
			collectAll(t)
			require.Empty(t, log.of("key"), "it was lost")
		})
	}
}

func TestALeaseThatIsAskedIsNotForgottenMeanwhile(t *testing.T) {
	t.Parallel()
	log := &forgottenLog{}
	c := newCluster(t, 3, locktest.WithLogger(slog.New(log)))
	asked := make(chan error, 1)
	forget(t, c.Node(1), "key", func(l *coordinator.Lease) any {
		c.Isolate(1)
		advance(c, long/10, 1)
		go func() { asked <- l.Ensure(patient(t), long*85/100) }()
		return nil
	})
	collectAll(t)
	require.Empty(t, asked)
	awaitCut(t, c, 1)
	require.Empty(t, log.of("key"))
	c.Heal()
	require.NoError(t, <-asked)
	awaitFree(t, c, c.Node(2), "key") // and then it is
}

func TestDoKeepsALeaseThatItsFunctionForgets(t *testing.T) {
	t.Parallel()
	log := &forgottenLog{}
	c := newCluster(t, 1, locktest.WithLogger(slog.New(log)))
	n := c.Node(1)
	held := func() { require.NotNil(t, inspect(t, n, "key").Holder) }
	require.NoError(t, n.Coordinator().Do(patient(t), "key", func(context.Context, *coordinator.Lease) error {
		collectAll(t)
		held()
		return nil
	}))
	require.NoError(t, n.Coordinator().DoAll(patient(t), []string{"key"}, func(context.Context, *coordinator.LeaseSet) error {
		collectAll(t)
		held()
		return nil
	}))
	collectAll(t)
	require.Empty(t, log.of("key"))
	awaitNothingLeft(t, c)
}

func TestALeaseThatHasEndedLeavesNoLog(t *testing.T) {
	t.Parallel()
	log := &forgottenLog{}
	c := newCluster(t, 3, locktest.WithLogger(slog.New(log)))
	n := c.Node(1)
	for name, end := range map[string]func(*coordinator.Lease){
		"Released":          func(l *coordinator.Lease) { release(t, l) },
		"LostAndAsked":      func(l *coordinator.Lease) { advance(c, long, 1); _ = l.Err() },
		"LostAndNeverAsked": func(*coordinator.Lease) { advance(c, long, 1) },
		"LostByClose":       func(*coordinator.Lease) { n.Close(); n.Restart() },
	} {
		t.Run(name, func(t *testing.T) {
			forget(t, n, "key", func(l *coordinator.Lease) any { end(l); return nil })
			collectAll(t)
			require.Empty(t, log.of("key"))
			awaitFree(t, c, c.Node(2), "key")
		})
	}
}

// Part of a set is lost, and nobody has it any more who could release the
// rest.
func TestWhatIsLeftOfALostSetIsGivenBackWhenItIsForgotten(t *testing.T) {
	t.Parallel()
	log := &forgottenLog{}
	c := newSteadyCluster(t, 3, locktest.WithLogger(slog.New(log)))
	ctx := patient(t)
	kept, lost := c.KeyIn(1, "kept"), c.KeyIn(2, "lost")
	for name, keep := range map[string]func(*coordinator.LeaseSet) any{
		"AfterTheLoss":  func(s *coordinator.LeaseSet) any { return s },
		"BeforeTheLoss": func(s *coordinator.LeaseSet) any { return s.Done() },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, c.MoveLeader(ctx, kept, 2))
			require.NoError(t, c.MoveLeader(ctx, lost, 3))
			what := forgetSet(t, c.Node(1), []string{kept, lost}, keep)
			collectAll(t)
			require.NotNil(t, inspect(t, c.Node(2), kept).Holder)
			require.NotNil(t, inspect(t, c.Node(2), lost).Holder)

			switch what := what.(type) {
			case <-chan struct{}:
				expireAtLeader(t, c, 3, lost, what)
			case *coordinator.LeaseSet:
				expireAtLeader(t, c, 3, lost, what.Done())
				require.NotNil(t, inspect(t, c.Node(2), kept).Holder, "nobody enters while the caller unwinds")
			}
			runtime.KeepAlive(what)
			awaitFree(t, c, c.Node(2), kept)
			awaitFree(t, c, c.Node(2), lost)
			collectAll(t)
			require.Empty(t, log.of(kept+" and 1 more"))
		})
	}
}

func TestALogThatBlocksHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	log := &forgottenLog{}
	c := newCluster(t, 1, locktest.WithLogger(slog.New(log)))
	n := c.Node(1)
	log.gate.Lock()
	for _, key := range []string{"first", "second"} {
		forget(t, n, key, nothing)
		awaitFree(t, c, n, key)
		require.Empty(t, log.of(key))
	}
	log.gate.Unlock()
	for _, key := range []string{"first", "second"} {
		require.NoError(t, c.Await(patient(t), "the log", func() bool { return len(log.of(key)) == 1 }))
	}
}

// awaitFree lets the collector run until nobody has a key.
func awaitFree(t testing.TB, c *locktest.Cluster, n *locktest.Node, key string) {
	t.Helper()
	awaitCollected(t, c, "the key to be free", func() bool { return inspect(t, n, key).Holder == nil })
}
