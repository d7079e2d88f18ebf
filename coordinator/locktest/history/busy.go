package history

import (
	"fmt"
	"slices"

	"github.com/palisade-go/palisade/token"
)

// span is for how long a request can have stood in the way at a key: from its
// call to the end of what it got, or to the end of its withdrawal, which goes on
// in the background and is not seen.
type span struct {
	request  int // by its place in the records
	from, to Instant
}

// unjustified finds tries that were refused as busy although no other request
// for one of their keys was under way or held it.
func unjustified(records []Record) (problems []error) {
	spans, start := map[string][]span{}, firstCall(records)
	ends := map[holding]Instant{}
	for _, r := range records {
		if r.Kind == End {
			ends[holding{r.Keys[0], r.Tokens[0]}] = r.Return
		}
	}
	for n, r := range records {
		// A busy try of one key had nothing. One of several may have had keys of
		// other groups before it met the one that was taken.
		if r.Kind != Acquire && (r.Kind != Try || r.Outcome == Busy && len(r.Keys) == 1) {
			continue
		}
		for i, key := range r.Keys {
			s := span{n, r.Call, Never}
			if r.Outcome == Done {
				if end, ended := ends[holding{key, r.Tokens[i]}]; ended {
					s.to = end
				}
			}
			spans[key] = append(spans[key], s)
		}
	}
	for n, r := range records {
		if r.Outcome != Busy {
			continue
		}
		inTheWay := func(s span) bool { return s.request != n && s.from <= r.Return && s.to >= r.Call }
		if !slices.ContainsFunc(r.Keys, func(key string) bool { return slices.ContainsFunc(spans[key], inTheWay) }) {
			problems = append(problems, fmt.Errorf("%w: busy, and nobody was in the way:\n  %s", ErrViolation, r.told(start)))
		}
	}
	return problems
}

// holding is one key of one lease.
type holding struct {
	key   string
	token token.Token
}
