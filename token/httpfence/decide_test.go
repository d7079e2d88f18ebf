package httpfence

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// TestDecideEqualsTheRulesInWords walks through every combination that tells
// rules apart, and compares with the order of decisions as the package comment
// has it.
func TestDecideEqualsTheRulesInWords(t *testing.T) {
	mine, others := Fingerprint{1}, Fingerprint{2}
	records := map[string]*Record{
		"not known":      nil,
		"begun":          {Token: 5, Fingerprint: mine},
		"answered":       {Token: 5, Fingerprint: mine, Answer: &Answer{Status: 200}},
		"another begun":  {Token: 5, Fingerprint: others},
		"another's done": {Token: 5, Fingerprint: others, Answer: &Answer{Status: 200}},
	}
	seen := map[verdict]int{}
	for known, record := range records {
		for given := token.Token(4); given <= 6; given++ {
			for _, once := range []bool{false, true} {
				for _, idempotent := range []bool{false, true} {
					a := attempt{write: token.Write{Resource: "r", Token: given, Operation: "o"}, print: mine, idempotent: idempotent}
					a.rule = token.Write.Judge
					if once {
						a.rule = token.Write.JudgeOnce
					}
					isStale := given < 5 || once && given == 5
					want := run
					switch {
					case known == "another begun" || known == "another's done":
						want = reused
					case known == "answered":
						want = replay
					case known == "begun" && (!idempotent || isStale):
						want = unknown
					case known == "not known" && isStale:
						want = stale
					}
					kept := Kept{Highest: 5, Record: record}
					got, err := a.decide(kept)
					at := fmt.Sprintf("%s, token %s, once %v, idempotent %v", known, given, once, idempotent)
					require.Equal(t, want, got, at)
					require.Equal(t, want == stale, err != nil, at)
					raised := token.Token(0)
					if given == 6 && want != reused {
						raised = 6
					}
					require.Equal(t, raised, a.raises(got, kept), at)
					seen[got]++
				}
			}
		}
	}
	require.Len(t, seen, 5, "every verdict was reached")
}
