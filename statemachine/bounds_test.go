package statemachine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The bounds decide outcomes: another value needs another machine version.
func TestBoundsAreWhatTheyWere(t *testing.T) {
	require.Equal(t, 512, KeyBytesMax)
	require.Equal(t, 1024, MetadataBytesMax)
	require.Equal(t, 128, RequestIDBytesMax)
	require.Equal(t, 128, ClaimsMax)
	require.Equal(t, 4096, CommandsMax)
	require.Equal(t, 4<<20, BatchBytesMax)
	require.Equal(t, 1000, SliceMax)
	require.Equal(t, Version(1), Binary)
}

func manyKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%05d", i)
	}
	return keys
}

func TestBoundsOfAnAcquire(t *testing.T) {
	long := strings.Repeat("k", KeyBytesMax)
	with := func(change func(*Acquire)) Acquire {
		a := acquire(1, "k")
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		acquire Acquire
		granted bool
	}{
		"KeyAtTheBoundIsGranted":          {acquire(1, long), true},
		"KeyAboveTheBoundIsRefused":       {acquire(1, long+"k"), false},
		"EmptyKeyIsRefused":               {acquire(1, ""), false},
		"ClaimsAtTheBoundAreGranted":      {acquire(1, manyKeys(ClaimsMax)...), true},
		"ClaimsAboveTheBoundAreRefused":   {acquire(1, manyKeys(ClaimsMax+1)...), false},
		"NoClaimIsRefused":                {acquire(1), false},
		"UnsortedClaimsAreRefused":        {acquire(1, "b", "a"), false},
		"RepeatedClaimsAreRefused":        {acquire(1, "a", "a"), false},
		"SeqZeroIsRefused":                {acquire(0, "a"), false},
		"MetadataAtTheBoundIsGranted":     {with(func(a *Acquire) { a.Metadata = strings.Repeat("m", MetadataBytesMax) }), true},
		"MetadataAboveTheBoundIsRefused":  {with(func(a *Acquire) { a.Metadata = strings.Repeat("m", MetadataBytesMax+1) }), false},
		"RequestIDAtTheBoundIsGranted":    {with(func(a *Acquire) { a.RequestID = strings.Repeat("r", RequestIDBytesMax) }), true},
		"RequestIDAboveTheBoundIsRefused": {with(func(a *Acquire) { a.RequestID = strings.Repeat("r", RequestIDBytesMax+1) }), false},
		"SmallestTTLIsGranted":            {with(func(a *Acquire) { a.TTL = 1 }), true},
		"TTLZeroIsRefused":                {with(func(a *Acquire) { a.TTL = 0 }), false},
		"NegativeTTLIsRefused":            {with(func(a *Acquire) { a.TTL = -time.Second }), false},
		"NegativeLimitIsRefused":          {with(func(a *Acquire) { a.Limit = -1 }), false},
		"ModeZeroIsRefused":               {with(func(a *Acquire) { a.Claims[0].Mode = 0 }), false},
		"ModeThatIsNotThereYetIsRefused":  {with(func(a *Acquire) { a.Claims[0].Mode = Exclusive + 1 }), false},
		"KeysAreSortedByBytes":            {acquire(1, "\x00", "\xff\xfe", "é"), false},
		"KeysThatAreNoTextAreGranted":     {acquire(1, "\x00", "é", "\xff\xfe"), true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGroup(t)
			before := g.m.Stats()
			events := g.node(1, c.acquire)
			require.Len(t, events, 1)
			if c.granted {
				require.IsType(t, Granted{}, events[0])
			} else {
				require.Equal(t, Refused{Node: 1, Incarnation: 1, Number: 1, Seq: c.acquire.Seq, Reason: RefusedInvalid}, events[0])
				require.Equal(t, before, g.m.Stats())
				require.Zero(t, g.m.Meta().Place)
			}
			require.NoError(t, g.m.Check())
		})
	}
}

// S111: keys are compared byte by byte, whatever they look like.
func TestS111OddKeysAreDifferentKeys(t *testing.T) {
	odd := []string{" ", "/", "a", "a/", "/a", "a//b", "a/b", "a\x00b", "a\x00", "\x00", "\xff", "\xc3\xa9", "e\xcc\x81", "..", ".",
		"A", strings.Repeat("a", KeyBytesMax), strings.Repeat("a", KeyBytesMax-1), "{a}", "a,b"}
	for i, held := range odd {
		g := newGroup(t)
		require.IsType(t, Granted{}, g.node(1, acquire(1, held))[0])
		for j, other := range odd {
			events := g.node(2, acquire(Seq(j+1), other))
			if i == j {
				require.Equal(t, RefusedBusy, events[0].(Refused).Reason, "%q", held)
			} else {
				require.IsType(t, Granted{}, events[0], "%q while %q is held", other, held)
			}
		}
		require.NoError(t, g.m.Check())
	}
}
