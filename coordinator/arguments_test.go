package coordinator_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// What is refused before anything is proposed, and what is not.

func TestS107DurationsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	c := locktest.New(t, 1, locktest.WithConfig(func(_ int, cfg *coordinator.Config) { cfg.ElectionTimeout = locktest.ElectionTimeout }))
	ctx := patient(t)
	node := c.Node(1).Coordinator()
	before := batches(c.Node(1))
	const least = 4 * locktest.ElectionTimeout
	for name, wrong := range map[string][]coordinator.AcquireOption{
		"ttl 0s":                   {coordinator.WithTTL(0)},
		"ttl -1ns":                 {coordinator.WithTTL(-1)},
		"ttl -1h0m0s":              {coordinator.WithTTL(-time.Hour)},
		"ttl 1ns":                  {coordinator.WithTTL(1)},
		"ttl 999µs":                {coordinator.WithTTL(999 * time.Microsecond)},
		"ttl 1.599999999s":         {coordinator.WithTTL(least - 1)},
		"ttl 24h0m0.000000001s":    {coordinator.WithTTL(24*time.Hour + 1)},
		"max hold 0s":              {coordinator.WithMaxHold(0)},
		"max hold -1h0m0s":         {coordinator.WithMaxHold(-time.Hour)},
		"max hold 1.599999999s":    {coordinator.WithMaxHold(least - 1)},
		"wait 0s":                  {coordinator.WithWait(0)},
		"wait -1ns":                {coordinator.WithWait(-1)},
		"option 0 is nil":          {nil},
		"request id has 0 bytes":   {coordinator.WithRequestID("")},
		"option 1 is nil":          {coordinator.WithTTL(-1), nil}, // and the ttl is named too
		"ttl -1ns: must be from 4": {coordinator.WithTTL(-1), nil},
	} {
		for _, call := range []func() error{
			func() error { _, err := node.Acquire(ctx, "key", wrong...); return err },
			func() error { _, err := node.TryAcquire(ctx, "key", wrong...); return err },
			func() error { _, err := node.AcquireAll(ctx, []string{"key"}, wrong...); return err },
			func() error { _, err := node.TryAcquireAll(ctx, []string{"key"}, wrong...); return err },
			func() error {
				return node.Do(ctx, "key", func(context.Context, *coordinator.Lease) error {
					t.Errorf("fn is run with %s", name)
					return nil
				}, wrong...)
			},
		} {
			err := call()
			require.ErrorIs(t, err, coordinator.ErrInvalid, name)
			require.ErrorContains(t, err, name)
			require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
		}
	}
	require.Equal(t, before, batches(c.Node(1)))

	for name, right := range map[string]coordinator.AcquireOption{
		"the least ttl": coordinator.WithTTL(least), "the greatest ttl": coordinator.WithTTL(24 * time.Hour),
		"the least max hold": coordinator.WithMaxHold(least), "the least wait that can work": coordinator.WithWait(time.Minute),
	} {
		_, err := node.Acquire(ctx, name, right)
		require.NoError(t, err, name)
	}
}

func TestS109AFinishedContextFailsAndProposesNothing(t *testing.T) {
	t.Parallel()
	c := locktest.New(t, 1)
	node := c.Node(1).Coordinator()
	lease := acquire(t, c.Node(1), "held", coordinator.WithTTL(long))
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	passed, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	calls := map[string]func(context.Context) error{
		"Acquire":     func(ctx context.Context) error { _, err := node.Acquire(ctx, "key"); return err },
		"AcquireHeld": func(ctx context.Context) error { _, err := node.Acquire(ctx, "held"); return err },
		"AcquireWithID": func(ctx context.Context) error {
			_, err := node.Acquire(ctx, "key", coordinator.WithRequestID("id"))
			return err
		},
		"TryAcquire": func(ctx context.Context) error { _, err := node.TryAcquire(ctx, "key"); return err },
		"AcquireAll": func(ctx context.Context) error { _, err := node.AcquireAll(ctx, []string{"a", "b", "c"}); return err },
		"TryAcquireAll": func(ctx context.Context) error {
			_, err := node.TryAcquireAll(ctx, []string{"a", "b", "c"})
			return err
		},
		"Inspect":   func(ctx context.Context) error { _, err := node.Inspect(ctx, "key"); return err },
		"Resolve":   func(ctx context.Context) error { _, err := node.Resolve(ctx, "key", "id"); return err },
		"WaitReady": node.WaitReady,
		"Ensure":    func(ctx context.Context) error { return lease.Ensure(ctx, long*85/100) },
		"Do": func(ctx context.Context) error {
			return node.Do(ctx, "key", func(context.Context, *coordinator.Lease) error { panic("fn is run") })
		},
		"DoAll": func(ctx context.Context) error {
			return node.DoAll(ctx, []string{"key"}, func(context.Context, *coordinator.LeaseSet) error { panic("fn is run") })
		},
	}
	require.NoError(t, c.WaitEqualDumps(patient(t)))
	before, state := batches(c.Node(1)), node.Status().Groups
	for name, call := range calls {
		for range 1000 {
			err := call(cancelled)
			require.ErrorIs(t, err, context.Canceled, name)
			require.Equal(t, coordinator.NotApplied, outcomeOf(t, err), name)
			err = call(passed)
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			require.Equal(t, coordinator.NotApplied, outcomeOf(t, err), name)
		}
		var none context.Context
		require.ErrorIs(t, call(none), coordinator.ErrInvalid, name)
	}
	require.Equal(t, before, batches(c.Node(1)))
	require.Equal(t, state, node.Status().Groups)
	require.True(t, lease.Held())

	_, err := coordinator.Open(cancelled, coordinator.Config{Dir: t.TempDir()})
	require.ErrorIs(t, err, context.Canceled)
}

func TestS111OddKeys(t *testing.T) {
	t.Parallel()
	c := locktest.New(t, 1)
	ctx := patient(t)
	node := c.Node(1).Coordinator()
	odd := []string{
		" ", "  ", "/", "a", "a/", "/a", "a//b", "a/b", "a\x00b", "a\x00", "\x00", "\xff\xfe", "\xc3\x28",
		"\u00e9", "e\u0301", "..", "../..", ".", "\n", "{", "}", "{}", "{a}", "{a}b", "a{}", strings.Repeat("k", 512),
		strings.Repeat("k", 511) + "\x00",
	}
	held := make(map[string]*coordinator.Lease)
	for _, key := range odd {
		lease, err := node.TryAcquire(ctx, key)
		require.NoError(t, err, "%q is taken for another one", key)
		require.Equal(t, key, lease.Key())
		held[key] = lease
	}
	for _, key := range odd {
		_, err := node.TryAcquire(ctx, key)
		var busy *coordinator.BusyError
		require.ErrorAs(t, err, &busy)
		require.Equal(t, key, busy.Holders[0].Key)
		require.Equal(t, held[key].Token(), busy.Holders[0].Token)
		require.Equal(t, key, inspect(t, c.Node(1), key).Holder.Key)
	}
	require.NoError(t, filepath.WalkDir(c.Node(1).Dir(), func(path string, _ fs.DirEntry, err error) error {
		require.NotContains(t, filepath.Base(path), "kkkk", "a path is made of a key")
		return err
	}))

	before := batches(c.Node(1))
	for _, key := range []string{"", strings.Repeat("k", 513), strings.Repeat("k", 4096)} {
		for _, call := range []func() error{
			func() error { _, err := node.Acquire(ctx, key); return err },
			func() error { _, err := node.TryAcquireAll(ctx, []string{"good", key}); return err },
			func() error { _, err := node.Inspect(ctx, key); return err },
			func() error { _, err := node.Resolve(ctx, key, "id"); return err },
		} {
			err := call()
			require.ErrorIs(t, err, coordinator.ErrInvalid)
			require.Equal(t, coordinator.NotApplied, outcomeOf(t, err))
			require.Less(t, len(err.Error()), 300, "an error does not repeat what is too long")
		}
	}
	_, err := node.AcquireAll(ctx, nil)
	require.ErrorIs(t, err, coordinator.ErrInvalid)
	require.ErrorContains(t, err, "no key")
	require.Equal(t, before, batches(c.Node(1)))
}
