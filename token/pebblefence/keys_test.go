package pebblefence

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

func TestNoTwoNamesMakeOneKey(t *testing.T) {
	keys := newKeyspace([]byte("p"))
	names := []string{"a", "b", "ab", "a\x01", "a/b", "a\x01b", "\x01", "\x01a", "aa", "aab", "\x01\x01b"}
	seen := map[string]bool{}
	for _, resource := range names {
		for _, key := range [][]byte{keys.fence(resource), keys.number(resource, 1), keys.number(resource, 'a')} {
			require.False(t, seen[string(key)], "%q", key)
			seen[string(key)] = true
		}
		for _, operation := range names {
			key := keys.operation(resource, token.Operation(operation))
			require.False(t, seen[string(key)], "%q", key)
			seen[string(key)] = true
		}
	}
}

func TestSuccessorIsTheSmallestKeyAboveAPrefix(t *testing.T) {
	require.Equal(t, []byte("b"), successor([]byte("a")))
	require.Equal(t, []byte("a0"), successor([]byte("a/")))
	require.Equal(t, []byte("b"), successor([]byte("a\xff\xff")))
	require.Nil(t, successor([]byte("\xff\xff")))
}

// TestRangesThatMeetThePrefix compares meets with a search for a key that is in
// both, over all short keys of a small alphabet.
func TestRangesThatMeetThePrefix(t *testing.T) {
	var all [][]byte
	for length, last := 0, [][]byte{{}}; length < 4; length++ {
		all = append(all, last...)
		var next [][]byte
		for _, key := range last {
			for _, b := range []byte{0, 'a', 0xff} {
				next = append(next, append(bytes.Clone(key), b))
			}
		}
		last = next
	}
	meeting := 0
	for _, prefix := range [][]byte{{'a'}, {0xff}, {'a', 0xff}, {0, 'a'}} {
		keys := newKeyspace(prefix)
		for _, start := range all {
			for _, end := range all {
				if bytes.Compare(start, end) >= 0 {
					continue // an empty range
				}
				found := false
				for _, key := range all {
					inside := bytes.Compare(key, start) >= 0 && bytes.Compare(key, end) < 0
					found = found || inside && bytes.HasPrefix(key, prefix)
				}
				if found {
					meeting++
					require.True(t, keys.meets(start, end), "%q: %q to %q", prefix, start, end)
				} else if len(start) < 3 && len(end) < 3 {
					require.False(t, keys.meets(start, end), "%q: %q to %q", prefix, start, end)
				}
			}
		}
	}
	require.Greater(t, meeting, 100)
}
