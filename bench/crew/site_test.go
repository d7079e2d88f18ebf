package crew

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is locks in memory, and a clock that only their use moves.
type bench struct {
	acquires, releases time.Duration // how long they take
	fail               func(turn int) error

	mu    sync.Mutex
	now   Instant
	turns int
	taken []string // the keys of all acquires, in their order
	held  map[string]bool
	clash bool // a key was given out twice
	open  int  // lockers
}

// site makes a site on the bench's locks and clock.
func (b *bench) site() *Site {
	b.held = map[string]bool{}
	s := NewSite(func(context.Context) (Locker, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.open++
		return &memory{bench: b}, nil
	})
	s.now = func() Instant {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.now
	}
	return s
}

type memory struct {
	bench *bench
	keys  []string
}

func (m *memory) Acquire(_ context.Context, keys []string) error {
	b := m.bench
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(b.acquires)
	b.turns++
	if b.fail != nil {
		if err := b.fail(b.turns); err != nil {
			return err
		}
	}
	for _, key := range keys {
		b.clash = b.clash || b.held[key]
		b.held[key] = true
	}
	b.taken = append(b.taken, keys...)
	m.keys = keys
	return nil
}

func (m *memory) Release(context.Context) error {
	b := m.bench
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.keys == nil {
		return nil
	}
	b.now = b.now.Add(b.releases)
	for _, key := range m.keys {
		delete(b.held, key)
	}
	m.keys = nil
	return nil
}

func (m *memory) Close() error {
	m.bench.mu.Lock()
	defer m.bench.mu.Unlock()
	m.bench.open--
	return nil
}

const ms = time.Millisecond

// A pair takes 3 ms, so that some end at 3, 6, … 42. Those count whose end is not
// before the time and before its end.
func TestPairsCountThatEndInTheTime(t *testing.T) {
	for _, c := range []struct {
		name      string
		warm, For time.Duration
		want      uint64
	}{
		{"From12To39", 10 * ms, 30 * ms, 10},
		{"OneThatEndsAtTheBeginningCounts", 12 * ms, 28 * ms, 10},
		{"OneThatEndsAtTheEndDoesNot", 10 * ms, 32 * ms, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bench{acquires: 2 * ms, releases: ms}
			tally, err := b.site().Run(context.Background(), Plan{Workers: 1, Prefix: "k", Warm: c.warm, For: c.For})
			require.NoError(t, err)
			require.Equal(t, c.want, tally.Pairs)
			require.Equal(t, []uint64{c.want}, tally.Turns)
			require.Equal(t, c.For, tally.Counted)
			require.InDelta(t, float64(c.want)/c.For.Seconds(), tally.PerSecond(), 1e-9)
			require.Equal(t, c.want, tally.Acquire.Count())
			require.Equal(t, 2*ms, tally.Acquire.Mean())
			require.Equal(t, ms, tally.Release.Mean())
			require.Empty(t, tally.Grants, "nobody asked for them")
		})
	}
}

func TestGrantsAreToldWithTheirInstants(t *testing.T) {
	b := &bench{acquires: 2 * ms, releases: ms}
	tally, err := b.site().Run(context.Background(), Plan{Workers: 1, Prefix: "k", For: 6 * ms, Stamps: true})
	require.NoError(t, err)
	at := func(d time.Duration) Instant { return Instant(d) }
	require.Equal(t, []Grant{{at(0), at(2 * ms)}, {at(3 * ms), at(5 * ms)}}, tally.Grants)
}

func TestEachWayOfKeys(t *testing.T) {
	for _, c := range []struct {
		name  string
		keys  Keys
		turns int
		want  []string
	}{
		{"OneIsTheSameForAll", One, 2, []string{"k", "k"}},
		{"OwnGoesRound", Own, 18, []string{
			"k/5/0", "k/5/1", "k/5/2", "k/5/3", "k/5/4", "k/5/5", "k/5/6", "k/5/7", "k/5/8", "k/5/9",
			"k/5/10", "k/5/11", "k/5/12", "k/5/13", "k/5/14", "k/5/15", "k/5/0", "k/5/1"}},
		{"ManyAreTakenAtOnce", Many, 1, []string{
			"k/5/0", "k/5/1", "k/5/2", "k/5/3", "k/5/4", "k/5/5", "k/5/6", "k/5/7", "k/5/8", "k/5/9",
			"k/5/10", "k/5/11", "k/5/12", "k/5/13", "k/5/14", "k/5/15"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &bench{acquires: ms, releases: ms}
			plan := Plan{Workers: 1, First: 5, Keys: c.keys, Prefix: "k", For: time.Hour, Turns: c.turns}
			_, err := b.site().Run(context.Background(), plan)
			require.NoError(t, err)
			require.Equal(t, c.want, b.taken)
			require.Empty(t, b.held, "all is given back")
		})
	}
}

func TestWorkersHaveKeysOfTheirOwnAndTurnsOfTheirOwn(t *testing.T) {
	b := &bench{acquires: ms, releases: ms}
	s := b.site()
	plan := Plan{Workers: 16, Prefix: "k", For: time.Hour, Turns: 20}
	tally, err := s.Run(context.Background(), plan)
	require.NoError(t, err)
	require.False(t, b.clash)
	require.Equal(t, uint64(16*20), tally.Pairs)
	require.Len(t, tally.Turns, 16)
	for _, turns := range tally.Turns {
		require.Equal(t, uint64(20), turns)
	}
	require.Equal(t, 16, b.open)

	_, err = s.Run(context.Background(), plan)
	require.NoError(t, err)
	require.Equal(t, 16, b.open, "lockers are used again")
	require.NoError(t, s.Close())
	require.Zero(t, b.open)
}

var errBroken = errors.New("broken")

func TestAFailureFailsThePlan(t *testing.T) {
	b := &bench{acquires: ms, releases: ms, fail: func(turn int) error {
		if turn == 3 {
			return errBroken
		}
		return nil
	}}
	_, err := b.site().Run(context.Background(), Plan{Workers: 2, Prefix: "k", For: time.Hour})
	require.ErrorIs(t, err, errBroken)
	require.ErrorContains(t, err, "worker ")
}

func TestPatientWorkersGoOnAndCountFailures(t *testing.T) {
	b := &bench{acquires: ms, releases: ms, fail: func(turn int) error {
		if turn%2 == 1 {
			return errBroken
		}
		return nil
	}}
	plan := Plan{Workers: 1, Prefix: "k", For: time.Hour, Turns: 10, Patient: true, Stamps: true}
	tally, err := b.site().Run(context.Background(), plan)
	require.NoError(t, err)
	require.Equal(t, uint64(5), tally.Failures)
	require.Equal(t, uint64(5), tally.Pairs)
	require.Len(t, tally.Grants, 5)
}

func TestTheEndOfTheContextEndsThePlan(t *testing.T) {
	b := &bench{acquires: ms, releases: ms}
	ctx, cancel := context.WithCancelCause(context.Background())
	b.fail = func(turn int) error {
		if turn == 100 {
			cancel(errBroken)
		}
		return nil
	}
	_, err := b.site().Run(ctx, Plan{Workers: 4, Prefix: "k", For: 1000 * time.Hour})
	require.ErrorIs(t, err, errBroken)
}

func TestALockerThatDoesNotOpenFailsReady(t *testing.T) {
	s := NewSite(func(context.Context) (Locker, error) { return nil, errBroken })
	require.ErrorIs(t, s.Ready(context.Background(), 1), errBroken)
	require.NoError(t, s.Close())
}

func TestSplitGivesEachSiteItsWorkersAndNumbersThemOnce(t *testing.T) {
	for workers := range 10 {
		parts := Plan{Workers: workers, First: 7, Prefix: "k"}.Split(3)
		require.Len(t, parts, 3)
		next := 7
		for i, p := range parts {
			require.Equal(t, next, p.First)
			require.Contains(t, []int{workers / 3, workers/3 + 1}, p.Workers, "site %d of %d workers", i, workers)
			require.Equal(t, "k", p.Prefix)
			next += p.Workers
		}
		require.Equal(t, 7+workers, next)
	}
}

// Two processes read the same clock.
func TestTheClockGoesOn(t *testing.T) {
	a := Now()
	b := Now()
	require.GreaterOrEqual(t, b, a)
	require.Equal(t, 5*time.Second, a.Add(5*time.Second).Sub(a))
}

func TestTalliesOfSitesAddUpAndThoseOfTimesFollow(t *testing.T) {
	one := func() Tally {
		tally := Tally{Pairs: 3, Counted: 2 * time.Second, Turns: []uint64{3}, Failures: 1, Grants: []Grant{{1, 2}}}
		tally.Acquire.Add(ms)
		tally.Release.Add(2 * ms)
		return tally
	}
	together, after := one(), one()
	together.Merge(one())
	require.Equal(t, 2*time.Second, together.Counted)
	require.InDelta(t, 3, together.PerSecond(), 1e-9)
	require.Equal(t, []uint64{3, 3}, together.Turns)
	require.Equal(t, uint64(2), together.Failures)
	require.Len(t, together.Grants, 2)
	require.Equal(t, uint64(2), together.Acquire.Count())
	require.Equal(t, uint64(2), together.Release.Count())
	after.Append(one())
	require.Equal(t, 4*time.Second, after.Counted)
	require.InDelta(t, 1.5, after.PerSecond(), 1e-9)
	empty := Tally{}
	require.Zero(t, empty.PerSecond())
}
