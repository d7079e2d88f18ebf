package coordinator

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The slot of a key is part of the data format: a change would send a key to
// another group, where its lease is not known.
func TestSlotGoldenVectors(t *testing.T) {
	// Computed by a second implementation.
	for key, slot := range map[string]uint32{
		"":                       4033,
		"a":                      192,
		"invoice-export":         2562,
		"customer:{42}:billing":  3108,
		"customer:{42}:export":   3108,
		"{}":                     290,
		"{}x":                    1822,
		"\x00":                   2707,
		"\xff\xfe":               3511,
		"naïve":                  2413,
		"a\x00b":                 4011,
		"orders/2026-11-29/0001": 1489,
	} {
		require.Equal(t, slot, slotOf(key), "slot of %q", key)
	}
	require.Equal(t, "fnv1a64-fold/4096", slotHash)
	require.Equal(t, 4096, slotCount)
}

func TestTagDecidesTheSlot(t *testing.T) {
	for key, tag := range map[string]string{
		"customer:{42}:billing": "42",
		"{a}{b}":                "a",
		"x{a}b}":                "a",
		"{{a}}":                 "{a",
		"{}{a}":                 "{}{a}", // nothing between the first brace and the next: no tag
		"a}b{c}":                "c",
		"{a":                    "{a",
		"a}":                    "a}",
		"plain":                 "plain",
	} {
		require.Equal(t, tag, tagOf(key), "tag of %q", key)
	}
	require.Equal(t, slotOf("customer:{42}:billing"), slotOf("customer:{42}:export"))
	require.Equal(t, slotOf("42"), slotOf("customer:{42}:export"))
}

func TestSlotsAreUsedEvenly(t *testing.T) {
	const keys = 400_000
	for _, form := range []string{"%d", "key-%d", "tenant/%08d/lock", "%x"} {
		var counts [slotCount]int
		for i := range keys {
			counts[slotOf(fmt.Sprintf(form, i))]++
		}
		// About 98 keys a slot; Poisson spread is 10. Seven times that is
		// far outside of chance for 4,096 slots.
		for slot, n := range counts {
			require.InDelta(t, keys/slotCount, n, 70, "slot %d with keys of the form %q", slot, form)
		}
	}
}
