package fencetest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/palisade-go/palisade/token"
)

// randomRules compare a guard with the reference where nobody thought of it.
var randomRules = []rule{
	{statement: "RandomWritesGiveWhatTheReferenceGives", check: randomWrites},
}

// stepsOfEpisode is after how many steps a random run goes on at other
// resources. Lists stay short, so that reading them after each step costs
// little.
const stepsOfEpisode = 120

// randomWrites makes one write after the other and compares outcome, receipt,
// list and fence after each.
func randomWrites(t *trial) {
	d := newDraw(t)
	seen := make(map[string]int)
	for step := range t.steps {
		c := d.next(step)
		var before token.Token
		if s := t.model.shelves[c.write.Resource]; s != nil { // none of a name that is refused
			before = s.highest
		}
		seen[kindOf(t.compare(c), before)]++
		if step%stepsOfEpisode == stepsOfEpisode-1 {
			t.same()
		}
		if t.reopen != nil && step%(t.steps/6) == t.steps/12 {
			t.restart()
			t.same()
		}
	}
	t.requireKinds(seen)
}

// kindOf tells outcomes apart by what a guard had to look at.
func kindOf(c call, before token.Token) string {
	effect := c.seen().effect
	switch {
	case effect == stale && c.write.Token == before:
		return "stale with an equal token"
	case effect == repeated && c.write.Token < before:
		return "repeated with a lower token"
	case effect == repeated && c.write.Token > before:
		return "repeated with a greater token"
	case effect == unknown: // of a failed write
		return string(failed)
	}
	return string(effect)
}

// requireKinds fails a run that missed a kind of outcome: it has shown nothing
// about it.
func (t *trial) requireKinds(seen map[string]int) {
	t.Helper()
	kinds := []string{
		string(written), string(accepted), string(stale), "stale with an equal token",
		string(failed), string(invalid), string(ended),
	}
	if !t.traits.NoOperations {
		kinds = append(kinds, string(repeated), "repeated with a lower token", "repeated with a greater token")
	}
	for _, kind := range kinds {
		if seen[kind] == 0 {
			t.stop("", "a run of %d steps saw no outcome of the kind %q: %v", t.steps, kind, seen)
		}
	}
	t.Logf("outcomes of %d steps with seed %d: %v", t.steps, t.seed, seen)
}

// draw draws writes.
type draw struct {
	*rand.Rand
	traits Traits
}

func newDraw(t *trial) *draw {
	t.seeded = true
	return &draw{Rand: rand.New(rand.NewPCG(t.seed, 0)), traits: t.traits}
}

// next draws the call of a step. Tokens lie near one another and rise slowly,
// as those of owners that follow one another and are late.
func (d *draw) next(step int) call {
	episode, at := step/stepsOfEpisode, step%stepsOfEpisode
	lists := listsOf("episode", episode)
	c := d.call(fmt.Sprintf("entry %d", step))
	c.write = on(lists[d.IntN(len(lists))], token.Token(1+at/12+d.IntN(4)), "")
	// What is rare comes at fixed steps, so that no run misses it by chance.
	switch step % 40 {
	case 20:
		c.write = badWrites[d.IntN(len(badWrites))]
	case 39:
		c.write.Token = 1000 // which would be taken
		c.finished = context.Canceled
	default:
		c.write.Operation = d.operation(c, 0)
	}
	return c
}

// listsOf names the few resources of a part of a run.
func listsOf(part string, number int) []string {
	lists := make([]string, 3)
	for i := range lists {
		lists[i] = fmt.Sprintf("list %d of %s %d", i+1, part, number)
	}
	return lists
}

// call draws a verb, and whether the write fails.
func (d *draw) call(entry string) call {
	c := call{verb: appendAny, entry: entry}
	if d.IntN(8) == 0 {
		c.entry = "fail " + entry
	}
	switch n := d.IntN(10); {
	case n == 0:
		c.verb, c.entry = accept, ""
	case n < 4:
		c.verb = appendOnce
	}
	return c
}

// operation draws an id out of few, or none. What becomes of an operation whose
// write failed is a guard's own choice where it can't take the write back, so
// those have none there.
func (d *draw) operation(c call, from int) token.Operation {
	const few = 8
	none := d.traits.NoOperations || c.verb == accept || c.fails() && d.traits.KeepsFenceOfFailedWrite
	if none || d.IntN(3) == 0 {
		return ""
	}
	return token.Operation(fmt.Sprintf("operation %d", from+d.IntN(few)))
}
