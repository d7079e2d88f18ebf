package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/palisade-go/palisade/token"
)

// keyState is who owns a key.
type keyState struct {
	holder token.Token // zero: nobody
	last   token.Token // of the last grant
}

// owners is the state of some keys. A state is never changed, only replaced.
type owners map[string]keyState

// ownership is the contract of keys: a grant needs a key that nobody owns and a
// token above all before, and an end is that of the owner. An end may be seen by
// its holder long before or after it is in the log, and its interval says so.
var ownership = porcupine.Model{
	Init: func() any { return owners{} },
	Step: func(state, input, _ any) (bool, any) {
		before, r := state.(owners), input.(Record)
		after := maps.Clone(before)
		for i, key := range r.Keys {
			k, t := before[key], r.Tokens[i]
			switch {
			case r.Kind == End && k.holder == t:
				after[key] = keyState{last: k.last}
			case r.Kind != End && k.holder.IsZero() && t > k.last:
				after[key] = keyState{holder: t, last: t}
			default:
				return false, state
			}
		}
		return true, after
	},
	Equal:             func(a, b any) bool { return maps.Equal(a.(owners), b.(owners)) },
	DescribeOperation: func(input, _ any) string { return input.(Record).what() },
	DescribeState: func(state any) string {
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(state.(owners))) {
			k := state.(owners)[key]
			parts = append(parts, fmt.Sprintf("%q held by %v, last token %v", key, k.holder, k.last))
		}
		return strings.Join(parts, "; ")
	},
}
