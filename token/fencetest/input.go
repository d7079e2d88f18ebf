package fencetest

import (
	"context"
	"errors"
	"strings"

	"github.com/palisade-go/palisade/token"
)

// inputRules are about what a guard takes at all.
var inputRules = []rule{
	{statement: "BadInputIsRefusedByEveryMethod", check: badInput},
	{statement: "AcceptTakesNoOperation", check: acceptTakesNoOperation, needs: operations},
	{statement: "TheLongestNamesAreTaken", check: longestNames},
	{statement: "AFinishedContextBeginsNothing", check: finishedContext},
}

// badWrites are writes that each have one thing that Write.Check refuses.
var badWrites = []token.Write{
	on("", 7, ""),
	on(strings.Repeat("r", token.ResourceBytesMax+1), 7, ""),
	on(strings.Repeat("é", token.ResourceBytesMax/2)+"r", 7, ""), // fewer characters than bytes
	on("list\xff", 7, ""),
	on("list\x00", 7, ""),
	on("list", 0, ""),
	on("list", 1<<63|7, ""),
	on("list", 1<<64-1, ""), // -1 as an int64
	on("list", 1<<53, ""),   // counter 0
}

// badOperations are operation ids that Write.Check refuses.
var badOperations = []token.Operation{
	token.Operation(strings.Repeat("o", token.OperationBytesMax+1)),
	token.Operation(strings.Repeat("é", token.OperationBytesMax/2)) + "ab", // fewer characters than bytes
	"\xc3",
	"a\x00",
}

func badInput(t *trial) {
	t.append(on("list", 5, ""), written)
	bad := badWrites
	if !t.traits.NoOperations {
		for _, op := range badOperations {
			bad = append(bad, on("list", 7, op))
		}
	}
	for _, w := range bad {
		for _, v := range verbs {
			t.step(call{verb: v, write: w, entry: t.newEntryFor(v)}, invalid)
		}
		t.askBad(w.Resource)
	}
}

// askBad asks for the fence of a resource that may have no name a guard takes:
// it is none, or the question is refused.
func (t *trial) askBad(resource string) {
	t.Helper()
	if on(resource, 1, "").Check() == nil {
		return
	}
	highest, err := t.guard.Highest(t.ctx, resource)
	if highest != 0 || err != nil && !errors.Is(err, token.ErrInvalid) {
		t.stop("list", "Highest(%s) = %s, %v\nexpected: zero, or token.ErrInvalid", clip(resource), highest, err)
	}
}

func acceptTakesNoOperation(t *trial) {
	t.accept(on("list", 5, "bill"), invalid)
	t.accept(on("list", 4, ""), accepted)
	t.append(on("list", 4, "bill"), written)
	t.accept(on("list", 5, "bill"), invalid) // known, and still no business of Accept
}

func longestNames(t *trial) {
	resource := strings.Repeat("r", token.ResourceBytesMax-1)
	op := token.Operation(strings.Repeat("o", token.OperationBytesMax-1))
	if t.traits.NoOperations {
		t.append(on(resource+"1", 9, ""), written)
		t.append(on(resource+"2", 1, ""), written)
		t.append(on(resource+"1", 8, ""), stale)
		return
	}
	// Two names that differ in their last byte are two.
	t.append(on(resource+"1", 9, op+"1"), written)
	t.append(on(resource+"2", 1, op+"1"), written)
	t.append(on(resource+"1", 9, op+"2"), written)
	t.append(on(resource+"1", 8, ""), stale)
	t.append(on(resource+"1", 8, op+"1"), repeated)
	t.append(on(strings.Repeat("é", token.ResourceBytesMax/2), 5, op+"1"), written)
}

// finishedContext tries what would be done otherwise.
func finishedContext(t *trial) {
	ops := []token.Operation{""}
	if !t.traits.NoOperations {
		t.append(on("list", 5, "known"), written)
		ops = []token.Operation{"", "new", "known"}
	}
	t.append(on("list", 5, ""), written)
	for _, finished := range []error{context.Canceled, context.DeadlineExceeded} {
		for _, op := range ops {
			t.step(call{verb: appendAny, write: on("list", 7, op), entry: t.newEntry(), finished: finished}, ended)
			t.step(call{verb: appendOnce, write: on("list", 7, op), entry: t.newEntry(), finished: finished}, ended)
		}
		t.step(call{verb: accept, write: on("list", 7, ""), finished: finished}, ended)
	}
	t.append(on("list", 6, ops[min(1, len(ops)-1)]), written) // the operation is still to be done
}
