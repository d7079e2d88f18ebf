package fencetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// told makes a history of calls that came one after the other.
func told(traits Traits, highest token.Token, entries []string, calls ...call) history {
	for i := range calls {
		calls[i].write.Resource = "list"
		calls[i].began, calls[i].ended = int64(2*i+1), int64(2*i+2)
	}
	return history{calls: calls, left: shelf{highest: highest, entries: entries}, traits: traits}
}

// wrote is a call that was written.
func wrote(w token.Write, entry, value string) call {
	return call{verb: appendAny, write: w, entry: entry, receipt: token.Receipt{Token: w.Token, Value: []byte(value)}}
}

// refused is a call that was refused because of a token.
func refused(w token.Write, highest token.Token) call {
	w.Resource = "list"
	refusal := &token.StaleError{Resource: "list", Given: w.Token, Highest: highest}
	return call{verb: appendAny, write: w, entry: "refused", err: refusal}
}

func TestHistory(t *testing.T) {
	plain, keeps := Traits{}, Traits{KeepsFenceOfFailedWrite: true}
	only, both := []string{"x"}, []string{"x", "y"}
	four, five, six := on("", 4, ""), on("", 5, ""), on("", 6, "")
	bill := on("", 5, "bill")
	failing := call{verb: appendAny, write: five, entry: "fail", err: errWrite}
	lost := failing
	lost.err = token.ErrUnknown
	again := wrote(bill, "y", "1")
	again.receipt.Repeated = true
	otherValue := again
	otherValue.receipt.Value = []byte("2")
	once := wrote(five, "y", "2")
	once.verb = appendOnce
	broken := wrote(five, "x", "")
	broken.err = errWrite
	ill := wrote(five, "x", "")
	ill.err = token.ErrInvalid
	overlapping := told(plain, 6, only, refused(five, 6), wrote(six, "x", "1"))
	overlapping.calls[1].began = overlapping.calls[0].began // so the write may have been first

	for name, h := range map[string]history{
		"Nothing":                   told(plain, 0, nil),
		"WritesAndARefusal":         told(plain, 6, both, wrote(five, "x", "1"), wrote(six, "y", "2"), refused(five, 6)),
		"ARepeatedOperation":        told(plain, 5, only, wrote(bill, "x", "1"), again),
		"AFailedWrite":              told(plain, 0, nil, failing),
		"AFailedWriteThatLeftNone":  told(keeps, 5, nil, failing),
		"AFailedWriteThatLeftOne":   told(keeps, 5, []string{"fail"}, failing),
		"AFailedWriteWithoutAnswer": told(keeps, 5, []string{"fail"}, lost),
		"ARefusalByAFailedWrite":    told(keeps, 5, nil, failing, refused(four, 5)),
		"ARefusalByALostWrite":      told(keeps, 5, nil, lost, refused(four, 5)),
		"ARefusalThatOverlaps":      overlapping,
	} {
		t.Run(name+"IsFine", func(t *testing.T) { require.NoError(t, h.check()) })
	}
	for name, row := range map[string]struct {
		history history
		says    string
	}{
		"AnErrorThatIsNoRefusal": {told(plain, 0, nil, broken), "a guard waits for its turn or tries again"},
		"AnInvalidWrite":         {told(plain, 0, nil, ill), "expected: done or refused as stale"},
		"ALostWrite":             {told(plain, 0, nil, lost), "a guard waits for its turn"},

		"AnEntryThatIsNotThere":    {told(plain, 5, nil, wrote(five, "x", "1")), "it is at []: a write was lost or doubled"},
		"AnEntryThatIsThereTwice":  {told(plain, 5, []string{"x", "x"}, wrote(five, "x", "1")), "it is at [1 2]"},
		"AnEntryAtAnotherPlace":    {told(plain, 5, only, wrote(five, "x", "2")), "once in the list, at place 2"},
		"AnEntryOfNobody":          {told(plain, 5, both, wrote(five, "x", "1")), `entry "y" is in the list at [2], and nobody wrote it`},
		"AnEntryOfARefusal":        {told(plain, 6, []string{"refused"}, refused(five, 6)), "and its entry is in the list, at [1]"},
		"AnEntryOfAFailedWrite":    {told(plain, 0, []string{"fail"}, failing), "and its entry is in the list at [1]"},
		"TwoEntriesOfAFailedWrite": {told(keeps, 5, []string{"fail", "fail"}, failing), "and its entry is in the list at [1 2]"},

		"AListInWhichATokenFalls":        {told(plain, 6, both, wrote(six, "x", "1"), wrote(five, "y", "2")), "rules 2 and 5"},
		"AListInWhichOnceFollowsAnEqual": {told(plain, 5, both, wrote(five, "x", "1"), once), "rules 2 and 5"},
		"AFenceBelowTheList":             {told(plain, 4, only, wrote(five, "x", "1")), "accepted is 4, and a write with token 5"},
		"AFenceAboveAllTokens":           {told(plain, 6, only, wrote(five, "x", "1")), "the fence 5, they are"},

		"AnOperationThatTookEffectTwice": {told(plain, 5, both, wrote(bill, "x", "1"), wrote(bill, "y", "2")), "took effect twice"},
		"AReceiptOfAnotherAttempt":       {told(plain, 5, only, wrote(bill, "x", "1"), otherValue), "expected: the first receipt"},
		"AReceiptOfNoAttempt":            {told(plain, 5, nil, again), "expected: the first receipt"},

		"ARefusalByATokenThatNobodyHas": {told(plain, 6, only, wrote(six, "x", "1"), refused(five, 7)), "nobody had token 7 accepted"},
		"ARefusalBeforeTheTokenItNames": {told(plain, 6, only, refused(five, 6), wrote(six, "x", "1")), "nobody had token 6"},
		"ARefusalOfADoneOperation": {
			told(plain, 6, both, wrote(bill, "x", "1"), wrote(six, "y", "2"), refused(bill, 6)), "would be: repeated",
		},
		"AWriteAfterAGreaterTokenWasAccepted": {
			told(plain, 6, only, call{verb: accept, write: six}, wrote(five, "x", "1")), "would be: stale",
		},
	} {
		t.Run(name+"IsFound", func(t *testing.T) { require.ErrorContains(t, row.history.check(), row.says) })
	}
}
