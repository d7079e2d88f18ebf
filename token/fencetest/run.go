package fencetest

import (
	"context"
	"testing"
	"time"
)

// rule is one statement about every guard, and the check of it.
type rule struct {
	statement string
	check     func(t *trial)
	// needs says what keeps the rule from a guard. Nil: it holds for all.
	needs func(traits Traits) (without string)
}

// rules are all of them.
func rules() []rule {
	var all []rule
	for _, group := range [][]rule{plainRules, inputRules, nameRules, repeatRules, failedRules, reopenRules,
		randomRules, walkRules, crowdRules, concurrentRules} {
		all = append(all, group...)
	}
	return all
}

// operations keeps a rule from guards that remember none.
func operations(traits Traits) string {
	if traits.NoOperations {
		return "the guard remembers no operations"
	}
	return ""
}

// Run checks every rule of guards as a sub-test, each on a guard of its own
// that open returns with empty lists. open registers on t what closes it.
func Run(t *testing.T, traits Traits, open func(t *testing.T) Guard) {
	t.Helper()
	if traits.Steps != 0 && traits.Steps < StepsMin {
		t.Fatalf("fencetest: Traits.Steps is %d; it has to be zero or at least %d", traits.Steps, StepsMin)
	}
	if traits.Seed == 0 {
		traits.Seed = uint64(time.Now().UnixNano())
	}
	for _, rule := range rules() {
		t.Run(rule.statement, func(t *testing.T) {
			if without := rule.without(traits); without != "" {
				t.Skip(without)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			trial := newTrial(ctx, t, traits, open(t))
			rule.run(trial, func(g Guard) Guard { return traits.Reopen(t, g) })
		})
	}
}

// without says what a guard lacks that the rule needs, or nothing.
func (r rule) without(traits Traits) string {
	if r.needs == nil {
		return ""
	}
	return r.needs(traits)
}

// run checks the rule in a trial.
func (r rule) run(t *trial, reopen func(Guard) Guard) {
	t.Helper()
	if t.traits.Reopen != nil {
		t.reopen = reopen
	}
	r.check(t)
	t.same()
}

func newTrial(ctx context.Context, t reporter, traits Traits, g Guard) *trial {
	trial := &trial{reporter: t, ctx: ctx, guard: g, traits: traits, model: newReference(traits)}
	trial.steps = traits.Steps
	if trial.steps == 0 {
		trial.steps = StepsDefault
	}
	trial.seed = traits.Seed
	return trial
}
