package fencetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRandomRunsSeeEveryKindOfOutcomeInTheFewestSteps(t *testing.T) {
	first := seedOfRun(t)
	for seed := first; seed < first+25; seed++ {
		for _, traits := range []Traits{{}, {KeepsFenceOfFailedWrite: true}, {NoOperations: true}} {
			traits.Seed, traits.Steps = seed, StepsMin
			for _, statement := range []string{
				"RandomWritesGiveWhatTheReferenceGives", "ConcurrentWritersLeaveWhatSomeOrderOfThemLeaves",
			} {
				g := newNaive()
				g.keepsFence = traits.KeepsFenceOfFailedWrite
				require.Empty(t, try(t, ruleOf(t, statement), traits, g).failure, "seed %d", seed)
			}
		}
	}
}

func TestARunThatMissedAKindOfOutcomeFails(t *testing.T) {
	all := func() map[string]int {
		return map[string]int{
			"written": 1, "accepted": 1, "stale": 1, "stale with an equal token": 1, "failed": 1, "invalid": 1,
			"ended by its context": 1, "repeated": 1, "repeated with a lower token": 1, "repeated with a greater token": 1,
		}
	}
	judge := func(seen map[string]int, traits Traits) string {
		return try(t, rule{check: func(t *trial) { t.requireKinds(seen) }}, traits, newNaive()).failure
	}
	require.Empty(t, judge(all(), Traits{}))
	for kind := range all() {
		seen := all()
		delete(seen, kind)
		require.Contains(t, judge(seen, Traits{}), "saw no outcome of the kind \""+kind+"\"")
	}
	for statement, says := range map[string]string{
		"RandomWritesGiveWhatTheReferenceGives":           "a run of 1 steps saw no outcome",
		"ConcurrentWritersLeaveWhatSomeOrderOfThemLeaves": "32 writers saw no call that came to",
	} {
		complete := ruleOf(t, statement).check
		said := try(t, rule{check: func(t *trial) { t.steps = 1; complete(t) }}, Traits{}, newNaive())
		require.Contains(t, said.failure, says)
	}
	none := all()
	for _, kind := range []string{"repeated", "repeated with a lower token", "repeated with a greater token"} {
		delete(none, kind)
	}
	require.Empty(t, judge(none, Traits{NoOperations: true}))

	for effect := range map[effect]int{written: 1, stale: 1, repeated: 1} {
		seen := newEffects()
		delete(seen, effect)
		said := try(t, rule{check: func(t *trial) { t.requireEffects(seen) }}, Traits{}, newNaive())
		require.Contains(t, said.failure, string(effect))
	}
}

func newEffects() map[effect]int { return map[effect]int{written: 1, stale: 1, repeated: 1} }

func TestOneSeedDrawsTheSame(t *testing.T) {
	drawn := func(seed uint64) (calls []string) {
		trial := newTrial(context.Background(), t, Traits{Seed: seed}, newNaive())
		d := newDraw(trial)
		for step := range 500 {
			calls = append(calls, d.next(step).String())
		}
		return calls
	}
	require.Equal(t, drawn(7), drawn(7))
	require.NotEqual(t, drawn(7), drawn(8))
}

func TestARandomRunReopensTheGuardInTheMiddle(t *testing.T) {
	g := newNaive()
	reopened := 0
	traits := Traits{Seed: seedOfRun(t), Steps: StepsMin, Reopen: func(t *testing.T, g Guard) Guard {
		reopened++
		return reopenNaive(t, g)
	}}
	require.Empty(t, try(t, ruleOf(t, "RandomWritesGiveWhatTheReferenceGives"), traits, g).failure)
	require.Equal(t, 6, reopened)
}
