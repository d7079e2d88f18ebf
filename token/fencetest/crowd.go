package fencetest

import (
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// crowdRules let many writers at a guard at once who all want the same. Each of
// them is about one thing that goes wrong where the check and the write, or the
// look for the operation, are not one step.
var crowdRules = []rule{
	{statement: "OfShuffledWritersTheGreatestTokenIsLast", check: shuffledWriters},
	{statement: "OfShuffledAcceptsTheGreatestIsKept", check: shuffledAccepts},
	{statement: "WritesOfOneHolderAtOnceAreAllKept", check: oneHolder},
	{statement: "OneLeaseAtOnceMakesOneWrite", check: oneWrite},
	{statement: "AnOperationThatAllTryAtOnceIsDoneOnce", check: oneOperation, needs: operations},
}

// crowd lets one call of each writer at a guard at once, several times, each
// time at another resource. plan says what the writer with that number does, of
// whom there are as many as writers, in another order each time. What they
// leave has to be what some order of them leaves, and to be fine by judge.
func (t *trial) crowd(plan func(d *draw, writer int) call, judge func(left shelf) (want string)) {
	t.Helper()
	const rounds = 8
	d := newDraw(t)
	for round := range rounds {
		list := fmt.Sprintf("list of round %d", round+1)
		var calls []call
		for _, writer := range d.Perm(writers) {
			c := plan(d, writer)
			c.write.Resource = list
			if c.verb != accept {
				c.entry = fmt.Sprintf("entry of writer %d", writer)
			}
			calls = append(calls, c)
		}
		t.calls = nil
		t.together(calls)
		left := t.judgeHistory(list)
		if want := judge(left); want != "" {
			t.stop(list, "the list is %q and the greatest token accepted is %s\nexpected: %s", left.entries, left.highest, want)
		}
	}
}

// shuffledWriters have a token each, as if their leases had followed one
// another.
func shuffledWriters(t *trial) {
	plan := func(_ *draw, writer int) call {
		return call{verb: appendAny, write: on("", token.Token(1+writer), "")}
	}
	t.crowd(plan, func(left shelf) string {
		last := fmt.Sprintf("entry of writer %d", writers-1)
		if n := len(left.entries); n == 0 || left.entries[n-1] != last {
			return fmt.Sprintf("%q as the last entry, since no token is greater", last)
		}
		return ""
	})
}

func shuffledAccepts(t *trial) {
	plan := func(_ *draw, writer int) call { return call{verb: accept, write: on("", token.Token(1+writer), "")} }
	t.crowd(plan, func(left shelf) string {
		if left.highest != writers {
			return fmt.Sprintf("%d as the greatest token, and no entry", writers)
		}
		return ""
	})
}

func oneHolder(t *trial) {
	plan := func(*draw, int) call { return call{verb: appendAny, write: on("", 5, "")} }
	t.crowd(plan, func(left shelf) string {
		if len(left.entries) != writers {
			return fmt.Sprintf("%d entries: no write may be lost", writers)
		}
		return ""
	})
}

func oneWrite(t *trial) {
	plan := func(*draw, int) call { return call{verb: appendOnce, write: on("", 5, "")} }
	t.crowd(plan, func(left shelf) string {
		if len(left.entries) != 1 {
			return "one entry, as there was one token"
		}
		return ""
	})
}

// oneOperation has one thing to be done, and all come to do it, with tokens
// that any of them may have.
func oneOperation(t *trial) {
	plan := func(d *draw, _ int) call {
		v := []verb{appendAny, appendOnce}[d.IntN(2)]
		return call{verb: v, write: on("", token.Token(1+d.IntN(3)), "bill")}
	}
	t.crowd(plan, func(left shelf) string {
		if len(left.entries) != 1 {
			return "one entry, as there was one thing to do"
		}
		return ""
	})
}
