package fencetest

import (
	"fmt"

	"github.com/palisade-go/palisade/token"
)

// repeatRules are about operations that took effect before.
var repeatRules = []rule{
	{statement: "TokenAndOperationCatchWhatTheOtherCannot", check: difference, needs: operations},
	{statement: "ARepeatedOperationReturnsTheFirstReceipt", check: firstReceipt, needs: operations},
	{statement: "ARepeatedOperationIsKnownAfterManyOthers", check: knownAfterMany, needs: operations},
	{statement: "ARepeatedOperationRaisesTheFence", check: repeatRaises, needs: operations},
	{statement: "AnOperationBelongsToItsResource", check: operationOfResource, needs: operations},
	{statement: "NoOperationIsNoOperationID", check: noOperation},
	{statement: "AReceiptIsItsCallersOwn", check: receiptIsOwn, needs: operations},
}

// difference is why a write has a token and an operation id. The token says
// whose turn it is, the operation what is done.
func difference(t *trial) {
	t.append(on("list", 1, "monday"), written)
	t.append(on("list", 2, "tuesday"), written)

	// The first owner was paused and wakes up with something new to do. Nobody
	// has done that before: no operation id can tell that it is late. The token
	// can.
	t.append(on("list", 1, "wednesday"), stale)

	// The third owner does not know how far the second came, and does its work
	// again. It is its turn: no token can tell that the work was done. The
	// operation id can.
	t.append(on("list", 3, "tuesday"), repeated)

	// The third owner's answer is lost, and it tries again, with the token that
	// it still has.
	t.append(on("list", 3, "wednesday"), written)
	t.append(on("list", 3, "wednesday"), repeated)

	// And the first owner asks after its own work, which was done. That it is
	// late does not make it undone.
	t.append(on("list", 1, "monday"), repeated)
}

func firstReceipt(t *trial) {
	t.append(on("list", 5, "bill"), written)
	t.append(on("list", 5, "bill"), repeated)     // the same holder
	t.append(on("list", 4, "bill"), repeated)     // one before it, who is late
	t.append(on("list", 6, "bill"), repeated)     // the next one
	t.append(on("list", 5, "bill"), repeated)     // the one that did it, late by now
	t.appendOnce(on("list", 6, "bill"), repeated) // which would allow no second write
	t.appendOnce(on("list", 4, "bill"), repeated)
	t.appendOnce(on("list", 7, "bill"), repeated)
	t.fail(appendAny, on("list", 7, "bill"), repeated) // its write function is not called
	t.fail(appendOnce, on("list", 8, "bill"), repeated)

	t.appendOnce(on("list", 9, "once"), written)
	t.appendOnce(on("list", 9, "once"), repeated)
	t.append(on("list", 8, "once"), repeated)
}

func knownAfterMany(t *trial) {
	t.append(on("list", 5, "bill"), written)
	for i := range OperationsMax - 1 {
		t.append(on("list", token.Token(6+i), token.Operation(fmt.Sprintf("bill %d", i))), written)
	}
	for i := range OperationsMax {
		t.append(on("list", token.Token(OperationsMax+6+i), ""), written)
	}
	t.append(on("list", 5, "bill"), repeated)
	for i := range OperationsMax - 1 {
		t.append(on("list", 1, token.Operation(fmt.Sprintf("bill %d", i))), repeated)
	}
}

func repeatRaises(t *trial) {
	t.append(on("list", 5, "bill"), written)
	t.append(on("list", 8, "bill"), repeated)
	t.append(on("list", 7, ""), stale)
	t.appendOnce(on("list", 8, ""), stale)
	t.accept(on("list", 7, ""), stale)
	t.append(on("list", 6, "bill"), repeated) // and lowers nothing
	t.append(on("list", 7, "another"), stale)
	t.appendOnce(on("list", 10, "bill"), repeated)
	t.append(on("list", 9, ""), stale)
	t.append(on("list", 10, "another"), written)
}

func operationOfResource(t *trial) {
	t.append(on("list", 5, "bill"), written)
	t.append(on("another list", 3, "bill"), written)
	t.append(on("list", 3, "bill"), repeated)
	t.append(on("another list", 9, "bill"), repeated)
	t.append(on("a third", 1, "bill"), written)
	t.append(on("list", 5, ""), written)
}

// noOperation makes the same write again and again: with no operation id a
// guard looks at the token alone.
func noOperation(t *trial) {
	for range 3 {
		t.step(call{verb: appendAny, write: on("list", 5, ""), entry: "the same"}, written)
	}
	t.step(call{verb: appendOnce, write: on("list", 6, ""), entry: "the same"}, written)
	t.step(call{verb: appendOnce, write: on("list", 6, ""), entry: "the same"}, stale)
}

// receiptIsOwn writes over the receipts that it got.
func receiptIsOwn(t *trial) {
	for _, want := range []effect{written, repeated, repeated} {
		receipt := t.append(on("list", 5, "bill"), want)
		clear(receipt.Value)
	}
}
