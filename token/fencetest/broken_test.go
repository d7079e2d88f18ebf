package fencetest

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// caught has for each fault the rules that have to find it, with what they say.
// Others may find it too.
var caught = map[fault]map[string]string{
	takesLower:       {"ALowerTokenIsRefusedNamingBoth": "rule 2"},
	refusesEqual:     {"AnEqualTokenIsAccepted": "rule 4"},
	onceTakesEqual:   {"OnceTakesAGreaterTokenOnly": "AppendOnce allows one write for each token"},
	comparesText:     {"ALowerTokenIsRefusedNamingBoth": "token 9, entry"},
	comparesCounters: {"AGreaterEpochIsGreater": "rule 2"},
	comparesFloats:   {"AGreaterEpochIsGreater": "rule 4"},
	namesNoTokens:    {"ALowerTokenIsRefusedNamingBoth": "without a *token.StaleError"},
	namesOwnToken:    {"ALowerTokenIsRefusedNamingBoth": "given 4, highest 5"},

	acceptDoesNothing:     {"AcceptRaisesWithoutAWrite": "rules 4, 6 and 8", "AReaderIsSafeFromTheOwnerBeforeIt": ""},
	acceptTakesOperations: {"AcceptTakesNoOperation": "expected: invalid"},
	refusedLowers:         {"ARefusedWriteChangesNothing": "the greatest token accepted", "ALowerTokenIsRefusedNamingBoth": ""},
	refusedIsRecorded:     {"ARefusedWriteChangesNothing": "expected: written"},

	checksNothing:     {"BadInputIsRefusedByEveryMethod": "Write.Check refuses it"},
	countsCharacters:  {"BadInputIsRefusedByEveryMethod": "(513 bytes)"},
	ignoresContext:    {"AFinishedContextBeginsNothing": "expected: ended", "RandomWritesGiveWhatTheReferenceGives": ""},
	answersBadNames:   {"BadInputIsRefusedByEveryMethod": "expected: zero, or token.ErrInvalid"},
	ignoresCancelling: {"AFinishedContextBeginsNothing": "expected: ended"},
	ignoresDeadlines:  {"AFinishedContextBeginsNothing": "expected: ended"},
	raisesForFinished: {"AFinishedContextBeginsNothing": "the greatest token accepted"},

	joinsNames:      {"ResourceAndOperationAreNotJoined": `"a/b"`},
	foldsResources:  {"NamesOfResourcesAreComparedByteByByte": `"List"`},
	trimsResources:  {"NamesOfResourcesAreComparedByteByByte": `"list "`},
	foldsOperations: {"OperationIDsAreComparedByteByByte": `"List"`},
	operationOfAll:  {"AnOperationBelongsToItsResource": `"another list"`},

	staleBeforeRepeated: {
		"ARepeatedOperationReturnsTheFirstReceipt":        "rule 7",
		"TokenAndOperationCatchWhatTheOtherCannot":        `"monday"`,
		"ThreeWritersInAnyOrderGiveWhatTheReferenceGives": "rule 7",
	},
	repeatRaisesNothing: {
		"ARepeatedOperationRaisesTheFence":                "rules 4, 6 and 8",
		"ConcurrentWritersLeaveWhatSomeOrderOfThemLeaves": "",
	},
	repeatLowers: {"ARepeatedOperationRaisesTheFence": "expected: 8", "ARepeatedOperationReturnsTheFirstReceipt": ""},
	repeatGivesOwnToken: {
		"ARepeatedOperationReturnsTheFirstReceipt":        "rule 7",
		"ConcurrentWritersLeaveWhatSomeOrderOfThemLeaves": "",
	},
	repeatGivesNewValue: {"TokenAndOperationCatchWhatTheOtherCannot": "rule 7", "ARepeatedOperationIsKnownAfterManyOthers": ""},
	repeatWrites: {
		"ARepeatedOperationReturnsTheFirstReceipt":        "the list of resource",
		"ConcurrentWritersLeaveWhatSomeOrderOfThemLeaves": "",
	},
	repeatIsNotSaid:    {"ARepeatedOperationReturnsTheFirstReceipt": "expected: repeated"},
	onceRepeatsNothing: {"ARepeatedOperationReturnsTheFirstReceipt": "AppendOnce"},
	emptyIsAnOperation: {"NoOperationIsNoOperationID": "expected: written"},
	forgetsSoon:        {"ARepeatedOperationIsKnownAfterManyOthers": "rule 7"},
	sharesReceipts:     {"AReceiptIsItsCallersOwn": `"\x00"`},
	countsFromZero:     {"NothingIsAcceptedAtFirst": `value "0"`},

	failedIsRecorded: {"AFailedWriteLeavesNothingOfItsOperation": "expected: failed"},
	failedRaises:     {"AFailedWriteLeavesNothing": "the greatest token accepted"},
	failedStays:      {"AFailedWriteLeavesNothing": "the list of resource"},

	forgetsFences:     {"FencesAndListsSurviveAReopen": "the greatest token accepted", "RandomWritesGiveWhatTheReferenceGives": ""},
	forgetsOperations: {"OperationsSurviveAReopen": "rule 7", "RandomWritesGiveWhatTheReferenceGives": ""},

	checksWithoutLock:  {"OfShuffledWritersTheGreatestTokenIsLast": "rules 2 and 5", "OneLeaseAtOnceMakesOneWrite": ""},
	raisesLate:         {"OfShuffledWritersTheGreatestTokenIsLast": "rules 2 and 5", "OneLeaseAtOnceMakesOneWrite": ""},
	losesUpdates:       {"WritesOfOneHolderAtOnceAreAllKept": "a write was lost or doubled"},
	looksUpWithoutLock: {"AnOperationThatAllTryAtOnceIsDoneOnce": "rule 7"},
	acceptLowers:       {"OfShuffledAcceptsTheGreatestIsKept": ""},
}

// caughtKeeping are the faults of a guard that keeps the fence of a failed
// write.
var caughtKeeping = map[fault]map[string]string{
	failedIsForgotten: {"AFailedWriteKeepsTheFence": "the greatest token accepted"},
	failedIsRecorded:  {"AFailedOperationIsNeverCalledDone": "only an operation that took effect has a receipt"},
}

func TestEachFaultIsCaughtByItsRule(t *testing.T) {
	traits := Traits{Seed: seedOfRun(t), Reopen: reopenNaive}
	for _, keeps := range []bool{false, true} {
		traits.KeepsFenceOfFailedWrite = keeps
		table := caught
		if keeps {
			table = caughtKeeping
		}
		for _, f := range slices.Sorted(maps.Keys(table)) {
			t.Run(string(f), func(t *testing.T) {
				for statement, says := range table[f] {
					g := newNaive()
					g.fault, g.keepsFence = f, keeps
					failure := try(t, ruleOf(t, statement), traits, g).failure
					require.NotEmpty(t, failure, "%s finds nothing with seed %d", statement, traits.Seed)
					require.Contains(t, failure, says, statement)
				}
			})
		}
	}
}
