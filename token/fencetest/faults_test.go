package fencetest

// fault is what a naive guard does wrong.
type fault string

const (
	noFault fault = ""

	takesLower       fault = "tokens are not compared"
	refusesEqual     fault = "Append refuses an equal token"
	onceTakesEqual   fault = "AppendOnce takes an equal token"
	comparesText     fault = "tokens are compared as decimal text"
	comparesCounters fault = "the epochs of tokens are not compared"
	comparesFloats   fault = "tokens are compared as float64"
	namesNoTokens    fault = "a refusal is the bare sentinel"
	namesOwnToken    fault = "a refusal names the refused token as the highest"

	acceptDoesNothing     fault = "Accept checks and keeps nothing"
	acceptTakesOperations fault = "Accept takes an operation id"
	refusedLowers         fault = "a refused write sets the fence to its token"
	refusedIsRecorded     fault = "the operation of a refused write is recorded"

	checksNothing     fault = "bad input is not refused"
	countsCharacters  fault = "names are measured in characters"
	answersBadNames   fault = "Highest answers for bad names"
	ignoresContext    fault = "the context is not looked at"
	ignoresCancelling fault = "of the context only the deadline is looked at"
	ignoresDeadlines  fault = "the deadline of the context is not looked at"
	raisesForFinished fault = "the context is looked at after the fence was raised"

	joinsNames      fault = "resource and operation are joined with a slash"
	foldsResources  fault = "names of resources are folded to lower case"
	trimsResources  fault = "names of resources lose their spaces"
	foldsOperations fault = "operation ids are folded to lower case"
	operationOfAll  fault = "an operation id is known for all resources"

	staleBeforeRepeated fault = "a token is judged before the operation is looked for"
	repeatRaisesNothing fault = "a repeated operation raises nothing"
	repeatLowers        fault = "a repeated operation sets the fence to its token, lower or not"
	repeatGivesOwnToken fault = "the receipt of a repeated operation has the token of the last attempt"
	repeatGivesNewValue fault = "the receipt of a repeated operation has a new value"
	repeatWrites        fault = "a repeated operation is written again"
	repeatIsNotSaid     fault = "the receipt of a repeated operation doesn't say that it is one"
	onceRepeatsNothing  fault = "AppendOnce looks for no operation"
	emptyIsAnOperation  fault = "no operation is the operation with the empty id"
	forgetsSoon         fault = "one operation fewer is kept than the suite uses"
	sharesReceipts      fault = "receipts share their bytes with the guard"
	countsFromZero      fault = "the value is not what the write returned"

	failedIsRecorded  fault = "the operation of a failed write is recorded"
	failedRaises      fault = "a failed write raises the fence"
	failedStays       fault = "a failed write leaves its entry"
	failedIsForgotten fault = "the fence of a failed write is not kept, but its entry is"
	refusesWhatFailed fault = "an operation that failed is not tried again" // which is allowed

	forgetsFences     fault = "fences are gone after a reopen"
	forgetsOperations fault = "operations are gone after a reopen"

	checksWithoutLock  fault = "the lock is let go between the check and the write"
	looksUpWithoutLock fault = "the lock is let go between the look for the operation and the check"
	raisesLate         fault = "the lock is let go between the write and the raising of the fence"
	losesUpdates       fault = "the list is read under one hold of the lock and written under another"
	acceptLowers       fault = "Accept sets the fence under another hold of the lock than it checks it"
)
