package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator"
	"github.com/palisade-go/palisade/coordinator/locktest"
)

// badCall is a call with something wrong in it, and what it has to say.
type badCall struct {
	op    string // as the error names it
	call  func() error
	is    error
	words []string
}

// badCalls are the calls with bad input to one node of a cluster.
type badCalls struct {
	t    *testing.T
	node *coordinator.Coordinator
	ctx  context.Context
	// lease, set and named are held meanwhile. named has the request id "id".
	lease, named *coordinator.Lease
	set          *coordinator.LeaseSet
}

type options = []coordinator.AcquireOption

// single returns the calls that acquire one key.
func (b *badCalls) single(ctx context.Context, key string, opts options) map[string]func() error {
	return map[string]func() error{
		"Acquire":    func() error { _, err := b.node.Acquire(ctx, key, opts...); return err },
		"TryAcquire": func() error { _, err := b.node.TryAcquire(ctx, key, opts...); return err },
		"Do": func() error {
			return b.node.Do(ctx, key, func(context.Context, *coordinator.Lease) error {
				b.t.Errorf("the function is run with %q", key)
				return nil
			}, opts...)
		},
	}
}

// several returns the calls that acquire several keys.
func (b *badCalls) several(ctx context.Context, keys []string, opts options) map[string]func() error {
	return map[string]func() error{
		"AcquireAll":    func() error { _, err := b.node.AcquireAll(ctx, keys, opts...); return err },
		"TryAcquireAll": func() error { _, err := b.node.TryAcquireAll(ctx, keys, opts...); return err },
		"DoAll": func() error {
			return b.node.DoAll(ctx, keys, func(context.Context, *coordinator.LeaseSet) error {
				b.t.Errorf("the function is run with %q", keys)
				return nil
			}, opts...)
		},
	}
}

// each makes a row of every call.
func each(calls map[string]func() error, is error, words ...string) (rows []badCall) {
	for op, call := range calls {
		rows = append(rows, badCall{op, call, is, words})
	}
	return rows
}

// keys are the rows for what is no key, or no list of keys.
func (b *badCalls) keys() (rows []badCall) {
	for _, bad := range []struct{ key, words string }{
		{"", "a key is empty"},
		{strings.Repeat("k", 513), "has 513 bytes: at most 512"},
		{strings.Repeat("\xff", 4<<10), "has 4096 bytes: at most 512"},
		{strings.Repeat("k", 1<<20), "has 1048576 bytes: at most 512"},
	} {
		rows = append(rows, each(b.single(b.ctx, bad.key, nil), coordinator.ErrInvalid, bad.words)...)
		rows = append(rows, each(b.several(b.ctx, []string{"good", bad.key}, nil), coordinator.ErrInvalid, bad.words)...)
		rows = append(rows,
			badCall{"Inspect", func() error { _, err := b.node.Inspect(b.ctx, bad.key); return err }, coordinator.ErrInvalid, []string{bad.words}},
			badCall{"Resolve", func() error { _, err := b.node.Resolve(b.ctx, bad.key, "id"); return err }, coordinator.ErrInvalid, []string{bad.words}})
	}
	tooMany := make([]string, 65)
	for i := range tooMany {
		tooMany[i] = fmt.Sprint("key-", i)
	}
	rows = append(rows, each(b.several(b.ctx, nil, nil), coordinator.ErrInvalid, "no key")...)
	rows = append(rows, each(b.several(b.ctx, []string{}, nil), coordinator.ErrInvalid, "no key")...)
	rows = append(rows, each(b.several(b.ctx, tooMany, nil), coordinator.ErrInvalid, "65 keys: at most 64")...)
	rows = append(rows, each(b.several(b.ctx, append(tooMany, tooMany...), nil), coordinator.ErrInvalid, "65 keys: at most 64")...)
	return append(rows, each(b.several(b.ctx, []string{"", strings.Repeat("k", 600)}, nil), coordinator.ErrInvalid,
		"a key is empty", "has 600 bytes")...)
}

// options are the rows for options.
func (b *badCalls) options() (rows []badCall) {
	const least = 4 * steadyElection
	long := strings.Repeat("é", 600)
	for _, bad := range []struct {
		opts  options
		words []string
	}{
		{options{coordinator.WithTTL(0)}, []string{"ttl 0s: must be from 4 election timeouts, 8s, to 24h0m0s"}},
		{options{coordinator.WithTTL(-1)}, []string{"ttl -1ns"}},
		{options{coordinator.WithTTL(-time.Hour)}, []string{"ttl -1h0m0s"}},
		{options{coordinator.WithTTL(math.MinInt64)}, []string{"ttl -2562047h47m16.854775808s"}},
		{options{coordinator.WithTTL(1)}, []string{"ttl 1ns"}},
		{options{coordinator.WithTTL(999 * time.Microsecond)}, []string{"ttl 999µs"}},
		{options{coordinator.WithTTL(least - 1)}, []string{"ttl 7.999999999s"}},
		{options{coordinator.WithTTL(24*time.Hour + 1)}, []string{"ttl 24h0m0.000000001s"}},
		{options{coordinator.WithTTL(math.MaxInt64)}, []string{"ttl 2562047h47m16.854775807s"}},
		{options{coordinator.WithMaxHold(0)}, []string{"max hold 0s: must be at least 4 election timeouts, 8s"}},
		{options{coordinator.WithMaxHold(-time.Hour)}, []string{"max hold -1h0m0s"}},
		{options{coordinator.WithMaxHold(math.MinInt64)}, []string{"max hold -2562047h"}},
		{options{coordinator.WithMaxHold(least - 1)}, []string{"max hold 7.999999999s"}},
		{options{coordinator.WithWait(0)}, []string{"wait 0s: must be above zero"}},
		{options{coordinator.WithWait(-1)}, []string{"wait -1ns"}},
		{options{coordinator.WithWait(math.MinInt64)}, []string{"wait -2562047h"}},
		{options{coordinator.WithMetadata(long[:1025])}, []string{"metadata has 1025 bytes: at most 1024"}},
		{options{coordinator.WithMetadata("\x00" + long[:1022])}, []string{"metadata has 1023 bytes: at most 1022"}},
		{options{coordinator.WithMetadata(strings.Repeat("m", 16<<20))}, []string{"metadata has 16777216 bytes"}},
		{options{coordinator.WithRequestID("")}, []string{"request id has 0 bytes: must be 1 to 128"}},
		{options{coordinator.WithRequestID(long[:129])}, []string{"request id has 129 bytes"}},
		{options{coordinator.WithRequestID("id")}, []string{`request id "id" is in use with other keys, ttl or max hold`}},
		{options{nil}, []string{"option 0 is nil"}},
		{options{coordinator.WithTTL(-1), nil, coordinator.WithWait(0)}, []string{"option 1 is nil", "ttl -1ns", "wait 0s"}},
	} {
		rows = append(rows, each(b.single(b.ctx, "key", bad.opts), coordinator.ErrInvalid, bad.words...)...)
		rows = append(rows, each(b.several(b.ctx, []string{"key", "other"}, bad.opts), coordinator.ErrInvalid, bad.words...)...)
	}
	return append(rows, each(b.several(b.ctx, nil, options{coordinator.WithTTL(-1)}), coordinator.ErrInvalid, "no key", "ttl -1ns")...)
}

// contexts are the rows for a context that is missing or has ended. Shutdown
// and Release do with one that has ended what they can.
func (b *badCalls) contexts() (rows []badCall) {
	cancelled, cancel := context.WithCancelCause(b.ctx)
	cancel(errors.New("the caller has had enough"))
	passed, stop := context.WithDeadline(b.ctx, time.Now().Add(-time.Second))
	stop()
	var none context.Context
	for _, bad := range []struct {
		ctx   context.Context
		is    error
		words []string
	}{
		{none, coordinator.ErrInvalid, []string{"the context is nil"}},
		{cancelled, context.Canceled, []string{"the context has ended already", "the caller has had enough"}},
		{passed, context.DeadlineExceeded, []string{"the context has ended already"}},
	} {
		rows = append(rows, each(b.single(bad.ctx, "key", nil), bad.is, bad.words...)...)
		rows = append(rows, each(b.single(bad.ctx, "held", nil), bad.is, bad.words...)...)
		rows = append(rows, each(b.single(bad.ctx, "key", options{coordinator.WithRequestID("another")}), bad.is, bad.words...)...)
		rows = append(rows, each(b.several(bad.ctx, []string{"a", "b", "c"}, nil), bad.is, bad.words...)...)
		rows = append(rows,
			badCall{"Inspect", func() error { _, err := b.node.Inspect(bad.ctx, "key"); return err }, bad.is, bad.words},
			badCall{"Resolve", func() error { _, err := b.node.Resolve(bad.ctx, "key", "id"); return err }, bad.is, bad.words},
			badCall{"WaitReady", func() error { return b.node.WaitReady(bad.ctx) }, bad.is, bad.words},
			badCall{"Ensure", func() error { return b.lease.Ensure(bad.ctx, long*85/100) }, bad.is, bad.words},
			badCall{"Ensure", func() error { return b.set.Ensure(bad.ctx, 0) }, bad.is, bad.words})
	}
	nothing := []string{"the context is nil"}
	return append(rows,
		badCall{"Release", func() error { return b.lease.Release(none) }, coordinator.ErrInvalid, nothing},
		badCall{"Release", func() error { return b.set.Release(none) }, coordinator.ErrInvalid, nothing},
		badCall{"Shutdown", func() error { return b.node.Shutdown(none) }, coordinator.ErrInvalid, nothing})
}

// others are the rows for what else can be wrong.
func (b *badCalls) others() []badCall {
	var (
		noLease *coordinator.Lease
		noSet   *coordinator.LeaseSet
		never   = []string{"never remain of a ttl of 1h0m0s, at most 54m0s"}
		nobody  = []string{"there is no lease (nil)"}
	)
	return []badCall{
		{"Do", func() error { return b.node.Do(b.ctx, "key", nil) }, coordinator.ErrInvalid, []string{"the function is nil"}},
		{"DoAll", func() error { return b.node.DoAll(b.ctx, []string{"key"}, nil) }, coordinator.ErrInvalid, []string{"the function is nil"}},
		{"Resolve", func() error { _, err := b.node.Resolve(b.ctx, "key", ""); return err }, coordinator.ErrInvalid, []string{"request id has 0 bytes"}},
		{"Resolve", func() error { _, err := b.node.Resolve(b.ctx, "key", strings.Repeat("i", 129)); return err }, coordinator.ErrInvalid, []string{"request id has 129 bytes"}},
		{"Ensure", func() error { return b.lease.Ensure(b.ctx, long*9/10) }, coordinator.ErrInvalid, never},
		{"Ensure", func() error { return b.lease.Ensure(b.ctx, math.MaxInt64) }, coordinator.ErrInvalid, never},
		{"Ensure", func() error { return b.set.Ensure(b.ctx, long) }, coordinator.ErrInvalid, never},
		{"Ensure", func() error { return noLease.Ensure(b.ctx, 1) }, coordinator.ErrLeaseLost, nobody},
		{"Ensure", func() error { return noSet.Ensure(b.ctx, 1) }, coordinator.ErrLeaseLost, nobody},
		{"Release", func() error { return noLease.Release(b.ctx) }, coordinator.ErrLeaseLost, nobody},
		{"Release", func() error { return (&coordinator.LeaseSet{}).Release(b.ctx) }, coordinator.ErrLeaseLost, nobody},
	}
}

// refused makes the calls and checks what they say.
func (b *badCalls) refused(t *testing.T, rows []badCall, times int) {
	for i, row := range rows {
		err := row.call()
		var e *coordinator.Error
		require.ErrorAs(t, err, &e, "row %d, %s: %q", i, row.op, row.words)
		require.ErrorIs(t, err, row.is)
		for _, word := range row.words {
			require.ErrorContains(t, err, word)
		}
		require.Equal(t, row.op, e.Op, "%v", err)
		require.Equal(t, coordinator.NotApplied, e.Outcome, "%v", err)
		require.Less(t, len(err.Error()), 500, "it does not repeat what is too long")
		for range times - 1 {
			if again := row.call(); !errors.Is(again, row.is) {
				require.FailNow(t, "the same call again", "%s: %v, and then %v", row.op, err, again)
			}
		}
	}
}

// S107, S109 and S111, and what else a caller can do wrong: every call gets an
// error that says what is wrong, and no group notices.
func TestBadInputToACallGetsAClearErrorAndChangesNothing(t *testing.T) {
	t.Parallel()
	// A leader that changes makes whoever holds a lease renew it, and that would
	// be a batch.
	c := newSteadyCluster(t, 3)
	b := &badCalls{
		t: t, node: c.Node(1).Coordinator(), ctx: patient(t),
		lease: acquire(t, c.Node(1), "held"),
		named: acquire(t, c.Node(1), "named", coordinator.WithRequestID("id")),
	}
	var err error
	b.set, err = b.node.AcquireAll(b.ctx, []string{c.KeyIn(1, "set"), c.KeyIn(2, "set"), c.KeyIn(3, "set")})
	require.NoError(t, err)
	before := groupsOf(t, c)
	status := b.node.Status()

	t.Run("S107OptionsThatMakeNoSense", func(t *testing.T) { b.refused(t, b.options(), 1) })
	t.Run("S109AContextThatIsMissingOrHasEnded", func(t *testing.T) { b.refused(t, b.contexts(), 1000) })
	t.Run("S111KeysThatAreNone", func(t *testing.T) { b.refused(t, b.keys(), 1) })
	t.Run("AndTheRest", func(t *testing.T) { b.refused(t, b.others(), 1) })

	// What a call has asked a group for would be in the same batch as this
	// look, or before it.
	after := groupsOf(t, c)
	require.Equal(t, strings.Join(before, "\n"), strings.Join(after, "\n"))
	now := b.node.Status()
	require.Equal(t, status.Batches+locktest.Groups, now.Batches, "a batch for each group's look, and no other")
	require.Equal(t, status.Requests, now.Requests)
	for _, lease := range []handle{b.lease, b.named, b.set} {
		require.True(t, lease.Held())
		require.NoError(t, lease.Release(b.ctx), "the node goes on as before")
	}
	awaitNothingLeft(t, c)
}

// Of a group and of a presence some numbers move with each batch.
var (
	movingLine   = regexp.MustCompile(`(?m)^(meta|presence) .*$`)
	movingNumber = regexp.MustCompile(` (applied|last|wall)=\d+`)
)

// groupsOf returns the states of all groups, the same on all nodes, without
// what moves with each batch. It commits a batch of node 1 in each group: what
// that node asked for before is applied then.
func groupsOf(t *testing.T, c *locktest.Cluster) (dumps []string) {
	t.Helper()
	for group := 1; group <= locktest.Groups; group++ {
		resolve(t, c.Node(1), c.KeyIn(group, "look"), "nobody")
	}
	require.NoError(t, c.WaitEqualDumps(patient(t)))
	for group := 1; group <= locktest.Groups; group++ {
		for _, dump := range c.Dumps(group) {
			dumps = append(dumps, movingLine.ReplaceAllStringFunc(dump.Text, func(line string) string {
				return movingNumber.ReplaceAllString(line, " $1")
			}))
		}
	}
	return dumps
}
