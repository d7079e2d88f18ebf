package fencetest

import "github.com/palisade-go/palisade/token"

// plainRules are about tokens alone.
var plainRules = []rule{
	{statement: "NothingIsAcceptedAtFirst", check: nothingAtFirst},
	{statement: "ALowerTokenIsRefusedNamingBoth", check: lowerRefused},
	{statement: "AnEqualTokenIsAccepted", check: equalAccepted},
	{statement: "OnceTakesAGreaterTokenOnly", check: onceTakesGreater},
	{statement: "AGreaterEpochIsGreater", check: epochs},
	{statement: "ResourcesAreIndependent", check: resourcesIndependent},
	{statement: "AcceptRaisesWithoutAWrite", check: acceptRaises},
	{statement: "AReaderIsSafeFromTheOwnerBeforeIt", check: readerIsSafe},
	{statement: "ARefusedWriteChangesNothing", check: refusedChangesNothing},
}

func nothingAtFirst(t *trial) {
	t.sameAt("list")
	t.append(on("list", 1, ""), written)
	t.sameAt("another list")
}

func lowerRefused(t *trial) {
	t.append(on("list", 5, ""), written)
	for _, lower := range []token.Token{4, 1, 3} {
		t.append(on("list", lower, ""), stale)
		t.appendOnce(on("list", lower, ""), stale)
		t.accept(on("list", lower, ""), stale)
	}
	t.append(on("list", 9, ""), written)
	t.append(on("list", 5, ""), stale)
	t.append(on("list", 8, ""), stale)
	t.append(on("list", 10, ""), written) // more digits
	t.append(on("list", 9, ""), stale)
}

func equalAccepted(t *trial) {
	for range 5 {
		t.append(on("list", 5, ""), written)
	}
	t.accept(on("list", 5, ""), accepted)
	t.append(on("list", 5, ""), written)
}

func onceTakesGreater(t *trial) {
	t.appendOnce(on("list", 5, ""), written)
	t.appendOnce(on("list", 5, ""), stale)
	t.appendOnce(on("list", 6, ""), written)
	t.append(on("list", 6, ""), written) // the two methods share a fence
	t.appendOnce(on("list", 6, ""), stale)
	t.append(on("list", 7, ""), written)
	t.appendOnce(on("list", 7, ""), stale)
	t.accept(on("list", 8, ""), accepted)
	t.appendOnce(on("list", 8, ""), stale)
	t.appendOnce(on("list", 9, ""), written)
}

func epochs(t *trial) {
	last, first := mustToken(0, token.CounterMax), mustToken(1, 1)
	t.append(on("list", last, ""), written)
	t.append(on("list", first, ""), written)
	t.append(on("list", last, ""), stale)
	greatest := mustToken(token.EpochMax, token.CounterMax)
	t.append(on("list", greatest-1, ""), written)
	t.appendOnce(on("list", greatest, ""), written)
	t.append(on("list", greatest-1, ""), stale)
	t.append(on("list", greatest, ""), written)
}

func resourcesIndependent(t *trial) {
	t.append(on("list", 9, ""), written)
	t.append(on("another list", 1, ""), written)
	t.accept(on("a third", 4, ""), accepted)
	t.appendOnce(on("another list", 2, ""), written)
	t.append(on("a third", 3, ""), stale)
	t.append(on("list", 9, ""), written)
}

func acceptRaises(t *trial) {
	t.accept(on("list", 3, ""), accepted) // before any write
	t.append(on("list", 2, ""), stale)
	t.append(on("list", 3, ""), written)
	t.accept(on("list", 3, ""), accepted)
	t.accept(on("list", 7, ""), accepted)
	t.append(on("list", 6, ""), stale)
	t.accept(on("list", 6, ""), stale)
	t.append(on("list", 7, ""), written)
}

// readerIsSafe is rule 9: what an owner has read stays as it was once its token
// was accepted, whatever the owner before it still tries.
func readerIsSafe(t *trial) {
	t.append(on("list", 1, ""), written)
	t.accept(on("list", 2, ""), accepted)
	read := len(t.entries("list"))
	t.append(on("list", 1, ""), stale)
	t.appendOnce(on("list", 1, ""), stale)
	if now := len(t.entries("list")); now != read {
		t.stop("list", "an owner read %d entries after its token was accepted, and now there are %d\n"+
			"by: rule 9 of package token", read, now)
	}
	t.append(on("list", 2, ""), written)
}

// refusedChangesNothing looks at lists and fences after each step, and at the
// operations with the same ids later: each of them is still to be done.
func refusedChangesNothing(t *trial) {
	op := func(id token.Operation) token.Operation {
		if t.traits.NoOperations {
			return ""
		}
		return id
	}
	t.append(on("list", 5, ""), written)
	t.append(on("another list", 5, ""), written)
	t.append(on("list", 4, op("a")), stale)
	t.appendOnce(on("list", 5, op("b")), stale)
	t.accept(on("list", 3, ""), stale)
	t.append(on("list", 0, op("c")), invalid)
	t.append(on("list", 1<<63, op("d")), invalid)
	t.same()
	for _, id := range []token.Operation{"a", "b", "c", "d"} {
		t.append(on("list", 5, op(id)), written)
	}
}

// mustToken is token.New for numbers that are known to be in its range.
func mustToken(epoch, counter uint64) token.Token {
	made, err := token.New(epoch, counter)
	if err != nil {
		panic(err)
	}
	return made
}
