package fencetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/palisade-go/palisade/token"
)

// findOrder looks for an order of concurrent calls in which each comes to what
// the reference says, which leaves the list and the fence that are there, and
// in which a call that ended before another began is before it. It returns nil
// if there is one, and otherwise where every order comes to its end.
//
// It never has to go back. Of the calls that can be the next, one that changes
// nothing may always be taken: whatever was possible before it is possible
// after it. Of those that change something, one that leaves the lowest fence
// may be taken: fences only rise, so after any other of them it would not be
// taken any more. If two leave the same fence, an AppendOnce goes first, as it
// needs a lower one before it, and then what adds nothing to the list, since
// a refusal of an operation can only be before that operation took effect.
func findOrder(model *reference, calls []call, left shelf) error {
	rest := slices.Clone(calls)
	var taken []call
	for len(rest) > 0 {
		next, found := -1, step{}
		for i, c := range rest {
			if s, possible := model.stepOf(c, left.entries); possible && !preceded(c, rest) && (next < 0 || s.before(found)) {
				next, found = i, s
			}
		}
		if next < 0 {
			return stuck(model, taken, rest, left.entries)
		}
		model.keep(rest[next], found.outcome, found.leavesEntry)
		taken = append(taken, rest[next])
		rest = slices.Delete(rest, next, next+1)
	}
	if len(calls) == 0 {
		return nil
	}
	end := model.shelf(calls[0].write.Resource)
	if !slices.Equal(end.entries, left.entries) || end.highest != left.highest {
		return fmt.Errorf("after the only order that is possible the list would be %q and the fence %s, they are %q and %s",
			end.entries, end.highest, left.entries, left.highest)
	}
	return nil
}

// preceded says whether a call of rest ended before c began.
func preceded(c call, rest []call) bool {
	return slices.ContainsFunc(rest, func(other call) bool { return other.ended < c.began })
}

// step is a call as the next one of an order.
type step struct {
	outcome outcome
	// leavesEntry is said of a failed write whose entry is in the list.
	leavesEntry bool

	idle   bool        // it changes nothing
	fence  token.Token // the greatest accepted after it
	once   bool        // it needs a lower fence before it
	writes bool        // it adds its entry to the list
}

func (s step) before(other step) bool {
	switch {
	case s.idle != other.idle:
		return s.idle
	case s.fence != other.fence:
		return s.fence < other.fence
	case s.once != other.once:
		return s.once
	}
	return !s.writes && other.writes
}

// stepOf says whether a call can be the next one, and what it would change.
// list is what the resource has at the end.
func (r *reference) stepOf(c call, list []string) (step, bool) {
	expected, _ := r.judge(c)
	if !r.agrees(c, expected) {
		return step{}, false
	}
	s := r.shelf(c.write.Resource)
	made := step{outcome: expected, fence: s.highest, once: c.verb == appendOnce && expected.effect != repeated}
	at := len(s.entries)
	switch expected.effect {
	case written:
		made.writes = true
	case failed:
		made.leavesEntry = r.keepsFence && slices.Contains(list, c.entry)
		made.writes = made.leavesEntry
	}
	if made.writes && (at >= len(list) || list[at] != c.entry) {
		return step{}, false
	}
	if r.raises(expected) {
		made.fence = max(made.fence, c.write.Token)
	}
	made.idle = !made.writes && made.fence == s.highest
	return made, true
}

// stuck says why none of the calls that are left can be the next.
func stuck(model *reference, taken, rest []call, list []string) error {
	const takenMax = 20
	var b strings.Builder
	b.WriteString("no order of the calls gives what came of them.\nAfter\n")
	if skipped := len(taken) - takenMax; skipped > 0 {
		fmt.Fprintf(&b, "  (%d others)\n", skipped)
		taken = taken[skipped:]
	}
	for _, c := range taken {
		fmt.Fprintf(&b, "  %v\n", c)
	}
	b.WriteString("none of these can be the next:")
	for _, c := range rest {
		if preceded(c, rest) {
			continue
		}
		expected, because := model.judge(c)
		if model.agrees(c, expected) {
			because = fmt.Sprintf("but the list has %q there", model.shelf(c.write.Resource).at(list))
		}
		fmt.Fprintf(&b, "\n  %v\n    would be: %s (%s)", c, expected, because)
	}
	return fmt.Errorf("%s", b.String())
}

// at returns what is in a list where the next entry would be.
func (s *shelf) at(list []string) []string {
	n := min(len(s.entries), len(list))
	return list[n:min(n+1, len(list))]
}
