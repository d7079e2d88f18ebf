package fencetest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

// trialOf makes a trial of a guard with a fault, and a recorder for it.
func trialOf(f fault) (*trial, *recorder) {
	g, said := newNaive(), new(recorder)
	g.fault = f
	return newTrial(context.Background(), said, Traits{}, g), said
}

func TestTrial(t *testing.T) {
	t.Run("MakesTwoThousandStepsByDefault", func(t *testing.T) {
		trial, _ := trialOf(noFault)
		require.Equal(t, 2000, trial.steps)
		require.Equal(t, 2000, StepsDefault)
		require.Equal(t, 5000, newTrial(context.Background(), t, Traits{Steps: 5000}, nil).steps)
	})
	t.Run("TellsTheLastCallsAtTheResource", func(t *testing.T) {
		trial, _ := trialOf(noFault)
		for i := range 50 {
			trial.append(on("list", token.Token(100+i), ""), written)
			trial.append(on("another list", token.Token(1000+i), ""), written)
		}
		story := trial.story("list")
		require.Contains(t, story, "calls at the resource so far: 50, without the first 10\n")
		require.NotContains(t, story, "token 109,")
		require.Contains(t, story, "token 110,")
		require.Contains(t, story, "token 149,")
		require.NotContains(t, story, "another list")
		require.Len(t, strings.Split(story, "\n"), 41)
		require.Contains(t, trial.story(""), "another list")
	})
	t.Run("ClipsLongNames", func(t *testing.T) {
		c := call{verb: appendAny, write: on(strings.Repeat("r", 512), 5, token.Operation(strings.Repeat("o", 255)))}
		require.Less(t, len(c.String()), 400)
		require.Contains(t, c.String(), "(512 bytes)")
	})
	t.Run("NamesTheSeedOnlyWhereItDecided", func(t *testing.T) {
		trial, said := trialOf(noFault)
		done := make(chan struct{})
		go func() { defer close(done); trial.stop("list", "something") }()
		<-done
		require.NotContains(t, said.failure, "Seed")
	})
	t.Run("PanicsWhenARuleAndTheReferenceDiffer", func(t *testing.T) {
		trial, _ := trialOf(noFault)
		trial.append(on("list", 5, ""), written)
		require.Panics(t, func() { trial.append(on("list", 4, ""), written) })
	})
	t.Run("SeesWhatWasWrittenWhereNobodyLooked", func(t *testing.T) {
		g := newNaive()
		said := try(t, rule{check: func(t *trial) {
			t.append(on("list", 5, ""), written)
			t.append(on("another list", 5, ""), written)
			g.spaces["list"].entries = nil
		}}, Traits{}, g)
		require.Contains(t, said.failure, `the list of resource "list" is []`)
	})
}

func TestOutcomeIsWhatTheErrorSaysForCertain(t *testing.T) {
	refusal := &token.StaleError{Resource: "list", Given: 4, Highest: 5}
	for what, row := range map[string]struct {
		call call
		want effect
	}{
		"no error":                          {call{verb: appendAny}, written},
		"no error of Accept":                {call{verb: accept}, accepted},
		"a repeated receipt":                {call{verb: appendOnce, receipt: token.Receipt{Repeated: true}}, repeated},
		"a refusal":                         {call{err: refusal}, stale},
		"a refusal in another error":        {call{err: errors.Join(errWrite, refusal)}, stale},
		"the bare sentinel":                 {call{err: token.ErrStale}, unnamed},
		"a refusal with an unknown outcome": {call{err: errors.Join(refusal, token.ErrUnknown)}, unknown},
		"bad input":                         {call{err: errors.Join(token.ErrInvalid, errWrite)}, invalid},
		"the end of its context":            {call{err: errors.Join(context.Canceled), finished: context.Canceled}, ended},
		"the end of another context":        {call{err: context.Canceled}, failed},
		"another end than its context's":    {call{err: context.Canceled, finished: context.DeadlineExceeded}, failed},
		"anything else":                     {call{err: errWrite}, failed},
	} {
		require.Equal(t, row.want, row.call.seen().effect, what)
	}
}
