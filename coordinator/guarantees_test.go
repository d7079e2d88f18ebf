package coordinator_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
	"github.com/palisade-go/palisade/token"
)

// One test for each guarantee, on real engines, in the words of
// docs/guarantees.md. Where a package below shows it better, this is the
// proof that the whole keeps it too.

func TestG1OneOwner(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	register := token.NewGuard()
	var inside atomic.Pointer[coordinator.Lease]
	var entries atomic.Int32
	stop := make(chan struct{})
	working := make(chan struct{})
	go func() {
		defer close(working)
		parallel(6, func(i int) {
			node := c.Node(i%2 + 1).Coordinator() // the third is the one that dies
			for {
				select {
				case <-stop:
					return
				default:
				}
				lease, err := node.Acquire(ctx, "key")
				if err != nil {
					t.Errorf("acquire: %v", err)
					return
				}
				if other := inside.Swap(lease); other != nil && other.Held() && lease.Held() {
					t.Errorf("tokens %v and %v are both held", other.Token(), lease.Token())
				}
				if err := register.Accept("key", lease.Token()); err != nil {
					t.Errorf("the register: %v", err)
				}
				entries.Add(1)
				inside.CompareAndSwap(lease, nil)
				if err := lease.Release(ctx); err != nil {
					t.Errorf("release: %v", err)
				}
			}
		})
	}()
	for round := range 3 {
		require.NoError(t, c.MoveLeader(ctx, "key", 3))
		before, changes := entries.Load(), c.Faults().LeaderChanges
		c.Node(3).Kill()
		require.NoError(t, c.Await(ctx, "entries under the next leader", func() bool { return entries.Load() > before+10 }))
		require.Greater(t, c.Faults().LeaderChanges, changes, "round %d", round)
		c.Node(3).Restart()
		require.NoError(t, c.WaitReady(ctx))
	}
	close(stop)
	<-working
	awaitNothingLeft(t, c)
}

func TestG2TokensOnlyRise(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, locktest.WithSnapshotEntries(10))
	ctx := patient(t)
	last := token.Token(0)
	rises := func(after string) {
		t.Helper()
		for _, n := range c.Nodes() {
			if !n.Running() {
				continue
			}
			lease := acquire(t, n, "key")
			require.Greater(t, lease.Token(), last, "after %s", after)
			last = lease.Token()
			release(t, lease)
		}
	}
	rises("the birth")
	for to := 1; to <= 3; to++ {
		require.NoError(t, c.MoveLeader(ctx, "key", to))
		rises("a change of leader")
	}

	c.Node(3).Kill()
	for range 10 {
		rises("the deletion of the key")
	}
	c.Node(3).Restart()
	require.NoError(t, c.WaitReady(ctx))
	require.NoError(t, c.MoveLeader(ctx, "key", 3))
	require.NotZero(t, c.Node(3).Faults().SnapshotsInstalled)
	rises("a snapshot that the leader was given")

	for _, n := range c.Nodes() {
		n.Kill()
	}
	for _, n := range c.Nodes() {
		n.Restart()
	}
	require.NoError(t, c.WaitReady(ctx))
	rises("a restart of all nodes")
}

func TestG7FirstComeFirstServed(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 5)
	last := coordinator.WithTTL(longer) // of all but the one who dies
	lease := acquire(t, c.Node(1), "key", last)
	node := c.Node(1)
	var line []*inLine
	// One for each way in which a key becomes free.
	for i, opts := range [][]coordinator.AcquireOption{
		{last},
		{last, coordinator.WithMaxHold(long / 4)},
		{last},
		{},
		{last},
	} {
		line = append(line, ask(t, c.Node(i%4+2), "key", opts...))
		awaitLine(t, c, node, "key", i+1)
	}
	_, err := try(t, node, "key")
	require.ErrorIs(t, err, coordinator.ErrBusy)

	goesOn := func(how string, to *inLine, behind int) {
		t.Helper()
		next := to.granted()
		require.Greater(t, next.Token(), lease.Token(), how)
		info := inspect(t, node, "key")
		require.Equal(t, next.Token(), info.Holder.Token, how)
		require.Len(t, info.Waiters, behind, how)
		lease = next
	}
	release(t, lease)
	goesOn("a release", line[0], 4)
	release(t, lease)
	goesOn("a release", line[1], 3)
	line[2].leave()
	require.ErrorIs(t, line[2].failed(), context.Canceled)
	advance(c, long/4, 1, 2, 3, 4, 5)
	goesOn("the limit, past one that has left", line[3], 1)
	c.Node(5).Kill()
	letPass(t, c, 2*long, 1, 2, 3, 4)
	goesOn("the expiry", line[4], 0)
	require.NotZero(t, c.Faults().ExpiriesProposed)
}

func TestG8ManyKeysNoDeadlock(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	keys := []string{c.KeyIn(1, "a"), c.KeyIn(1, "b"), c.KeyIn(2, "c"), c.KeyIn(3, "d")}
	owners := make(map[string]*atomic.Int32)
	for _, key := range keys {
		owners[key] = new(atomic.Int32)
	}
	var got, gaveUp atomic.Int32
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	parallel(6, func(i int) {
		random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
		for range 20 {
			mine := append([]string(nil), keys...)
			random.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
			mine = mine[:1+random.IntN(len(mine))]
			var opts []coordinator.AcquireOption
			if random.IntN(3) == 0 {
				opts = append(opts, coordinator.WithWait(time.Duration(1+random.IntN(5))*time.Millisecond))
			}
			set, err := c.Node(i%3+1).Coordinator().AcquireAll(ctx, mine, opts...)
			if err != nil {
				if len(opts) == 0 || set != nil {
					t.Errorf("acquire %v: %v, %v", mine, set, err)
				}
				gaveUp.Add(1)
				continue
			}
			got.Add(1)
			for _, key := range mine {
				if owners[key].Add(1) != 1 {
					t.Errorf("%q has two owners", key)
				}
			}
			for _, key := range mine {
				owners[key].Add(-1)
			}
			if err := set.Release(ctx); err != nil {
				t.Errorf("release: %v", err)
			}
		}
	})
	t.Logf("%d got all, %d gave up and got none", got.Load(), gaveUp.Load())
	require.NotZero(t, got.Load())
	require.NotZero(t, gaveUp.Load())
	awaitNothingLeft(t, c)
}

func TestG9Once(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	require.NoError(t, c.MoveLeader(ctx, "key", 1))
	for _, way := range [][2]int{{1, 2}, {2, 1}, {1, 3}, {3, 1}} {
		c.Drop(way[0], way[1], 0.05)
		c.Duplicate(way[0], way[1], 0.3)
		c.Delay(way[0], way[1], 0, 3*time.Millisecond)
	}
	const each = 40
	parallel(3, func(i int) {
		for range each {
			lease, err := c.Node(i+1).Coordinator().Acquire(ctx, "key")
			if err != nil {
				t.Errorf("acquire: %v", err)
				return
			}
			if err := lease.Release(ctx); err != nil {
				t.Errorf("release: %v", err)
			}
		}
	})
	retries, met := uint64(0), c.Traffic(1, 2)
	for _, n := range c.Nodes() {
		retries += n.Coordinator().Status().Retries
	}
	require.NotZero(t, met.Dropped)
	require.NotZero(t, met.Duplicated)
	require.NotZero(t, retries, "no batch was sent twice")
	c.Heal()
	awaitNothingLeft(t, c)
	// Each acquire took one token, not two.
	require.Equal(t, token.Token(3*each+1), acquire(t, c.Node(1), "key").Token())
}

func TestG10Truth(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	ctx := patient(t)
	node := c.Node(1).Coordinator()

	_, err := node.Acquire(ctx, "")
	require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
	held := acquire(t, c.Node(2), "taken")
	_, err = try(t, c.Node(1), "taken")
	require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))

	c.Isolate(1)
	_, err = node.Acquire(ctx, "free", coordinator.WithWait(locktest.ElectionTimeout))
	require.ErrorIs(t, err, coordinator.ErrUnavailable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, coordinator.Unknown, outcomeOf(t, err))
	require.NotZero(t, node.Status().Requests, "it is withdrawn in the background")
	awaitCut(t, c, 1)
	c.Heal()
	release(t, held)
	awaitNothingLeft(t, c)
}

func TestG11Bounded(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, locktest.WithConfig(func(_ int, cfg *coordinator.Config) {
		cfg.Limits = coordinator.Limits{Keys: 3, Queue: 2, Requests: 4}
	}))
	ctx := patient(t)
	node := c.Node(1).Coordinator()
	before := batches(c.Node(1))
	for _, refused := range []struct {
		limit string
		call  func() error
	}{
		{"513 bytes: at most 512", func() error {
			_, err := node.Acquire(ctx, strings.Repeat("k", 513))
			return err
		}},
		{"metadata has 1025 bytes: at most 1024", func() error {
			_, err := node.Acquire(ctx, "key", coordinator.WithMetadata(strings.Repeat("m", 1025)))
			return err
		}},
		{"request id has 129 bytes: must be 1 to 128", func() error {
			_, err := node.Acquire(ctx, "key", coordinator.WithRequestID(strings.Repeat("r", 129)))
			return err
		}},
		{"4 keys: at most 3", func() error {
			_, err := node.AcquireAll(ctx, []string{"a", "b", "c", "d"})
			return err
		}},
	} {
		err := refused.call()
		require.ErrorIs(t, err, coordinator.ErrInvalid)
		require.ErrorContains(t, err, refused.limit)
	}
	require.Equal(t, before, batches(c.Node(1)), "nothing was proposed")

	held := acquire(t, c.Node(1), "key")
	var line []*inLine
	for i := range 2 {
		line = append(line, ask(t, c.Node(1), "key"))
		awaitLine(t, c, c.Node(1), "key", i+1)
	}
	_, err := node.Acquire(ctx, "key")
	require.ErrorIs(t, err, coordinator.ErrQueueFull)
	require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
	other := acquire(t, c.Node(1), "other")
	_, err = node.Acquire(ctx, "one too many")
	require.ErrorIs(t, err, coordinator.ErrQueueFull)
	require.ErrorContains(t, err, "4 requests of this node")

	release(t, other)
	release(t, held)
	for _, l := range line {
		release(t, l.granted())
	}
	awaitNothingLeft(t, c)
}
