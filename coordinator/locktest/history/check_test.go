package history_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/locktest/history"
	"github.com/palisade-go/palisade/token"
)

const never = history.Never

// The steps of the histories below.

func granted(call, back history.Instant, client string, t token.Token, keys ...string) history.Record {
	r := history.Record{Kind: history.Acquire, Outcome: history.Done, Client: client, Keys: keys, Call: call, Return: back}
	for range keys {
		r.Tokens = append(r.Tokens, t)
	}
	return r
}

func ended(call, back history.Instant, client string, t token.Token, key string) history.Record {
	r := history.Record{Kind: history.End, Outcome: history.Done, Client: client, Keys: []string{key}, Tokens: []token.Token{t}, Call: call, Return: back}
	if back == never {
		r.Outcome = history.Unknown
	}
	return r
}

func busy(call, back history.Instant, keys ...string) history.Record {
	return history.Record{Kind: history.Try, Outcome: history.Busy, Client: "t", Keys: keys, Call: call, Return: back}
}

func wrote(call, back history.Instant, o history.Outcome, t token.Token, value string) history.Record {
	return history.Record{Kind: history.Write, Outcome: o, Client: "w", Resource: "r", Token: t, Value: value, Call: call, Return: back}
}

func read(call, back history.Instant, value string) history.Record {
	return history.Record{Kind: history.Read, Outcome: history.Done, Client: "r", Resource: "r", Value: value, Call: call, Return: back}
}

func TestCheckFindsWhatIsBroken(t *testing.T) {
	for name, row := range map[string]struct {
		records []history.Record
		broken  bool
	}{
		"NothingHappened": {},
		"OneAfterTheOther": {records: []history.Record{
			granted(1, 2, "a", 1, "k"), ended(3, 4, "a", 1, "k"), granted(5, 6, "b", 2, "k"), ended(7, 8, "b", 2, "k"),
		}},
		"AWaiterIsGrantedWithinTheRelease": {records: []history.Record{
			granted(1, 2, "a", 1, "k"), granted(1, 9, "b", 2, "k"), ended(5, 20, "a", 1, "k"), ended(30, 31, "b", 2, "k"),
		}},
		"TwoOwnersAtOnce": {broken: true, records: []history.Record{
			granted(1, 2, "a", 1, "k"), granted(3, 4, "b", 2, "k"), ended(5, 6, "a", 1, "k"), ended(5, 6, "b", 2, "k"),
		}},
		"AHolderTrustsItsLeaseWhenTheNextWasGranted": {broken: true, records: []history.Record{
			granted(1, 2, "a", 1, "k"), granted(3, 4, "b", 2, "k"), ended(5, never, "a", 1, "k"), ended(6, never, "b", 2, "k"),
		}},
		"AHolderThatWasNotSeenAnyMoreMayHaveExpired": {records: []history.Record{
			granted(1, 2, "a", 1, "k"), ended(3, never, "a", 1, "k"), granted(3, 9, "b", 2, "k"), ended(10, never, "b", 2, "k"),
		}},
		"AKeyThatNeverEndsIsNotGrantedAgain": {broken: true, records: []history.Record{
			granted(1, 2, "a", 1, "k"), granted(3, 4, "b", 2, "k"), ended(9, 9, "b", 2, "k"),
		}},
		"ATokenThatIsNotGreater": {broken: true, records: []history.Record{
			granted(1, 2, "a", 5, "k"), ended(3, 4, "a", 5, "k"), granted(5, 6, "b", 5, "k"), ended(7, 8, "b", 5, "k"),
		}},
		"ATokenThatIsLowerAfterOneThatEnded": {broken: true, records: []history.Record{
			granted(1, 2, "a", 6, "k"), ended(3, 4, "a", 6, "k"), granted(5, 6, "b", 5, "k"), ended(7, 8, "b", 5, "k"),
		}},
		"TokensOfTwoKeysDoNotCompare": {records: []history.Record{
			granted(1, 2, "a", 6, "k"), granted(3, 4, "a", 2, "l"), ended(5, 6, "a", 6, "k"), ended(5, 6, "a", 2, "l"),
		}},
		"ASetIsOwnedTogether": {records: []history.Record{
			granted(1, 2, "a", 1, "k"), granted(1, 6, "b", 2, "k", "l"), ended(3, 4, "a", 1, "k"),
			ended(7, 8, "b", 2, "k"), ended(7, 8, "b", 2, "l"),
		}},
		"ASetOfWhichOneKeyWasNeverFree": {broken: true, records: []history.Record{
			granted(1, 2, "a", 1, "k"), granted(1, 6, "b", 2, "k", "l"), ended(9, 10, "a", 1, "k"),
			ended(11, 12, "b", 2, "k"), ended(11, 12, "b", 2, "l"),
		}},
		"ASetWhoseKeysWereFreeAtDifferentTimes": {broken: true, records: []history.Record{
			granted(1, 2, "a", 1, "k"), ended(3, 4, "a", 1, "k"), // k is free between 4 and 7
			granted(1, 2, "b", 1, "l"), ended(9, 10, "b", 1, "l"), // l is free from 9 on
			granted(7, 8, "a", 3, "k"), ended(20, 21, "a", 3, "k"),
			granted(1, 15, "c", 2, "k", "l"), ended(16, 17, "c", 2, "k"), ended(16, 17, "c", 2, "l"),
		}},
		"ABusyTryWhileTheKeyIsHeld": {records: []history.Record{granted(1, 2, "a", 1, "k"), busy(3, 4, "k"), ended(5, 6, "a", 1, "k")}},
		"ABusyTryWhileARequestIsUnderWay": {records: []history.Record{
			{Kind: history.Acquire, Outcome: history.Nothing, Client: "a", Keys: []string{"k"}, Call: 1, Return: 2}, busy(30, 31, "j", "k"),
		}},
		"ABusyTryForNoReason":         {broken: true, records: []history.Record{granted(1, 2, "a", 1, "k"), ended(3, 4, "a", 1, "k"), busy(5, 6, "k")}},
		"ABusyTryForAnotherKey":       {broken: true, records: []history.Record{granted(1, 2, "a", 1, "l"), busy(3, 4, "k"), ended(5, 6, "a", 1, "l")}},
		"ABusyTryIsNoReasonForItself": {broken: true, records: []history.Record{busy(1, 9, "k"), busy(2, 8, "k")}},
		"ABusyTryWhileAnotherHadItForAMoment": {records: []history.Record{
			granted(1, 2, "a", 1, "l"), busy(3, 8, "k", "l"), busy(4, 5, "k"), busy(10, 11, "k"), ended(20, 21, "a", 1, "l"),
		}},
		"ABusyTryOfSeveralKeysIsNoReasonForItself": {broken: true, records: []history.Record{busy(1, 9, "k", "l")}},
		"WritesInTheOrderOfTokens":                 {records: []history.Record{wrote(1, 2, history.Done, 1, "x"), wrote(3, 4, history.Done, 2, "y"), read(5, 6, "y")}},
		"AnEqualTokenWritesAgain":                  {records: []history.Record{wrote(1, 2, history.Done, 1, "x"), wrote(3, 4, history.Done, 1, "y"), read(5, 6, "y")}},
		"AStaleWriteIsAccepted":                    {broken: true, records: []history.Record{wrote(1, 2, history.Done, 2, "x"), wrote(3, 4, history.Done, 1, "y")}},
		"AWriteIsRefusedForNoReason":               {broken: true, records: []history.Record{wrote(1, 2, history.Done, 2, "x"), wrote(3, 4, history.Stale, 2, "y")}},
		"AStaleWriteIsRefused":                     {records: []history.Record{wrote(1, 2, history.Done, 2, "x"), wrote(3, 4, history.Stale, 1, "y"), read(5, 6, "x")}},
		"ARefusedWriteShows":                       {broken: true, records: []history.Record{wrote(1, 2, history.Done, 2, "x"), wrote(3, 4, history.Stale, 1, "y"), read(5, 6, "y")}},
		"AnAcceptedWriteIsLost":                    {broken: true, records: []history.Record{wrote(1, 2, history.Done, 1, "x"), wrote(3, 4, history.Done, 2, "y"), read(5, 6, "x")}},
		"AnUnknownWriteShowsLater":                 {records: []history.Record{wrote(1, never, history.Unknown, 1, "x"), read(2, 3, ""), read(4, 5, "x")}},
		"AnUnknownWriteNeverShows":                 {records: []history.Record{wrote(1, never, history.Unknown, 1, "x"), wrote(2, 3, history.Done, 2, "y"), read(4, 5, "y")}},
		"AnUnknownStaleWriteMustNotShow": {broken: true, records: []history.Record{
			wrote(1, 2, history.Done, 2, "y"), wrote(3, never, history.Unknown, 1, "x"), read(4, 5, "y"), read(6, 7, "x"),
		}},
		"ReadsGoBack": {broken: true, records: []history.Record{
			wrote(1, 9, history.Done, 1, "x"), read(2, 3, "x"), read(4, 5, ""),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := history.Check(row.records, time.Minute)
			if !row.broken {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, history.ErrViolation)
			require.NotErrorIs(t, err, history.ErrUndecided)
		})
	}
}

func TestCheckRefusesRecordsOfNoRun(t *testing.T) {
	for says, r := range map[string]history.Record{
		"returned before it was called": granted(5, 4, "a", 1, "k"),
		"no key":                        granted(1, 2, "a", 1),
		"not one token a key":           {Kind: history.Acquire, Outcome: history.Done, Keys: []string{"k"}},
		"an unknown outcome that ended": wrote(1, 2, history.Unknown, 1, "x"),
		"an outcome that it can't have": {Kind: history.Acquire, Outcome: history.Busy, Keys: []string{"k"}},
		"not one key with one token":    {Kind: history.End, Keys: []string{"k", "l"}},
		"no resource":                   {Kind: history.Write, Outcome: history.Done, Token: 1},
		"no token":                      {Kind: history.Write, Outcome: history.Done, Resource: "r"},
		"no resource, or not done":      {Kind: history.Read, Resource: "r", Outcome: history.Unknown, Return: never},
		"an unknown kind":               {Kind: "guess"},
	} {
		err := history.Check([]history.Record{r}, time.Minute)
		require.ErrorIs(t, err, history.ErrInvalid, says)
		require.ErrorContains(t, err, says)
	}
	require.ErrorIs(t, history.Check(nil, 0), history.ErrInvalid)
}

// A search that can't end in time is no success.
func TestCheckIsUndecidedWhenTimeIsUp(t *testing.T) {
	var records []history.Record
	for i := range 400 { // all at once, and none of it fits the read
		records = append(records, wrote(1, 1000, history.Done, 1, strings.Repeat("x", i)))
	}
	err := history.Check(append(records, read(1001, 1002, "no such")), time.Millisecond)
	require.ErrorIs(t, err, history.ErrUndecided)
	require.NotErrorIs(t, err, history.ErrViolation)
	require.ErrorContains(t, err, `resource ["r"]`)
	require.ErrorContains(t, err, "401 operations")
}

func TestVisualizeShowsThePart(t *testing.T) {
	var page strings.Builder
	records := []history.Record{granted(1, 2, "a", 1, "k"), ended(3, 4, "a", 1, "k"), wrote(1, 2, history.Done, 2, "x")}
	require.NoError(t, history.Visualize(&page, records, "k", time.Minute))
	require.True(t, strings.Contains(page.String(), "held by 1, last token 1"), "the state after the acquire")
	require.False(t, strings.Contains(page.String(), "write"), "what is about other things is left out")
	require.ErrorIs(t, history.Visualize(&page, records, "other", time.Minute), history.ErrInvalid)
}
