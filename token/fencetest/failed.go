package fencetest

import (
	"slices"
)

// failedRules are about writes that were allowed and then failed.
var failedRules = []rule{
	{statement: "AFailedWriteLeavesNothing", check: failedLeavesNothing, needs: transactions},
	{statement: "AFailedWriteLeavesNothingOfItsOperation", check: failedOperation, needs: both(transactions, operations)},
	{statement: "AFailedWriteKeepsTheFence", check: failedKeepsFence, needs: noTransactions},
	{statement: "AFailedOperationIsNeverCalledDone", check: neverCalledDone, needs: both(noTransactions, operations)},
}

// transactions keeps a rule from guards that can't take back a failed write.
func transactions(traits Traits) string {
	if traits.KeepsFenceOfFailedWrite {
		return "the guard keeps the fence of a failed write"
	}
	return ""
}

func noTransactions(traits Traits) string {
	if traits.KeepsFenceOfFailedWrite {
		return ""
	}
	return "the guard leaves nothing of a failed write"
}

// both keeps a rule from guards that one of two conditions keeps it from.
func both(first, second func(Traits) string) func(Traits) string {
	return func(traits Traits) string {
		if without := first(traits); without != "" {
			return without
		}
		return second(traits)
	}
}

func failedLeavesNothing(t *trial) {
	t.fail(appendAny, on("list", 9, ""), failed)
	t.fail(appendOnce, on("list", 9, ""), failed)
	t.append(on("list", 5, ""), written) // the first that is accepted
	t.fail(appendAny, on("list", 7, ""), failed)
	t.append(on("list", 6, ""), written)
	t.fail(appendAny, on("list", 6, ""), failed)
	t.fail(appendOnce, on("list", 8, ""), failed)
	t.appendOnce(on("list", 8, ""), written) // a failed write has not used up its token
	t.fail(appendAny, on("list", 7, ""), stale)
	t.fail(appendOnce, on("list", 8, ""), stale)
}

func failedOperation(t *trial) {
	t.fail(appendAny, on("list", 9, "bill"), failed)
	t.fail(appendAny, on("list", 9, "bill"), failed)
	t.append(on("list", 5, "bill"), written)
	t.append(on("list", 9, "bill"), repeated)
	t.fail(appendOnce, on("list", 11, "another"), failed)
	t.append(on("list", 10, "another"), written)
	t.appendOnce(on("list", 11, "another"), repeated)
}

func failedKeepsFence(t *trial) {
	t.fail(appendAny, on("list", 5, ""), failed)
	t.append(on("list", 4, ""), stale)
	t.appendOnce(on("list", 5, ""), stale) // a failed write has used up its token
	t.append(on("list", 5, ""), written)
	t.fail(appendOnce, on("list", 7, ""), failed)
	t.accept(on("list", 6, ""), stale)
	t.fail(appendOnce, on("list", 7, ""), stale)
	t.fail(appendAny, on("list", 6, ""), stale)
	t.append(on("list", 7, ""), written)
}

// neverCalledDone tries an operation again whose write failed: a guard may do
// it now or refuse to, as it can't know what the first attempt did. It may not
// say that it was done.
func neverCalledDone(t *trial) {
	t.fail(appendAny, on("list", 5, "bill"), failed)
	for range 3 {
		before := t.entries("list")
		c := t.call(call{verb: appendAny, write: on("list", 5, "bill"), entry: t.newEntry()})
		after := t.entries("list")
		switch c.seen().effect {
		case written:
			t.model.keep(c, c.seen(), false)
			t.same()
			t.append(on("list", 5, "bill"), repeated)
			return
		case failed, unknown:
			if !slices.Equal(before, after) {
				t.stop("list", "%v\nand the list has changed from %q to %q", c, before, after)
			}
		default:
			t.stop("list", "%v\nexpected: written, or an error that says that it failed or that the outcome is unknown\n"+
				"by: rule 7 of package token: only an operation that took effect has a receipt to repeat", c)
		}
	}
	t.append(on("list", 5, ""), written)
}
