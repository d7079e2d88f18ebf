package fencetest

import "github.com/palisade-go/palisade/token"

// reopenRules are about guards that remember past their process.
var reopenRules = []rule{
	{statement: "FencesAndListsSurviveAReopen", check: fencesSurvive, needs: reopening},
	{statement: "OperationsSurviveAReopen", check: operationsSurvive, needs: both(reopening, operations)},
}

// reopening keeps a rule from guards that remember nothing past their process.
func reopening(traits Traits) string {
	if traits.Reopen == nil {
		return "the guard can't be opened again"
	}
	return ""
}

func fencesSurvive(t *trial) {
	t.restart() // before there is anything
	t.append(on("list", 5, ""), written)
	t.accept(on("another list", 9, ""), accepted)
	failedFirst := []effect{written, written}
	if t.traits.KeepsFenceOfFailedWrite {
		failedFirst = []effect{stale, written}
	}
	t.fail(appendAny, on("a third", 3, ""), failed)
	t.restart()
	t.same()
	t.append(on("list", 4, ""), stale)
	t.appendOnce(on("list", 5, ""), stale)
	t.append(on("list", 5, ""), written)
	t.append(on("another list", 8, ""), stale)
	t.append(on("another list", 9, ""), written)
	for i, want := range failedFirst {
		t.append(on("a third", token.Token(2+i), ""), want)
	}
	t.restart()
	t.restart()
	t.same()
	t.accept(on("list", 4, ""), stale)
	t.appendOnce(on("list", 6, ""), written)
}

func operationsSurvive(t *trial) {
	t.append(on("list", 5, "bill"), written)
	t.appendOnce(on("list", 6, "once"), written)
	t.append(on("list", 5, "refused"), stale)
	t.append(on("list", 8, "bill"), repeated)
	t.restart()
	t.append(on("list", 5, "bill"), repeated)
	t.append(on("list", 7, ""), stale) // the fence that the repeated operation raised
	t.append(on("list", 8, "refused"), written)
	t.appendOnce(on("list", 8, "once"), repeated)
	t.restart()
	t.append(on("list", 1, "refused"), repeated)
	t.append(on("list", 9, "once"), repeated)
	t.append(on("list", 8, ""), stale)
}
