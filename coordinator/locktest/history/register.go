package history

import (
	"fmt"

	"github.com/anishathalye/porcupine"

	"github.com/palisade-go/palisade/token"
)

// registerState is what a resource with a guard has.
type registerState struct {
	fence token.Token
	value string
}

// register is the contract of a resource that a guard protects.
var register = porcupine.NondeterministicModel{
	Init: func() []any { return []any{registerState{}} },
	Step: func(state, input, _ any) []any {
		s, r := state.(registerState), input.(Record)
		written := registerState{r.Token, r.Value}
		switch {
		case r.Kind == Read && s.value == r.Value,
			r.Outcome == Stale && r.Token < s.fence:
			return []any{s}
		case r.Kind == Write && r.Outcome == Done && r.Token >= s.fence:
			return []any{written}
		case r.Outcome == Unknown && r.Token >= s.fence:
			return []any{s, written} // it took effect, or it never will
		case r.Outcome == Unknown:
			return []any{s}
		}
		return nil
	},
	DescribeOperation: func(input, _ any) string { return input.(Record).what() },
	DescribeState: func(state any) string {
		s := state.(registerState)
		return fmt.Sprintf("value %q, greatest token %v", s.value, s.fence)
	},
}
