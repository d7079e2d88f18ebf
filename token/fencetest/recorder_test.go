package fencetest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder takes what a rule says of a guard that may be broken.
type recorder struct {
	failure string // what Fatalf was told, if it was called
	logged  []string
}

func (*recorder) Helper() {}

func (r *recorder) Logf(format string, args ...any) {
	r.logged = append(r.logged, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// try checks one rule on a guard and returns what it said.
func try(t *testing.T, r rule, traits Traits, g Guard) *recorder {
	t.Helper()
	said := new(recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(newTrial(context.Background(), said, traits, g), func(g Guard) Guard { return traits.Reopen(t, g) })
	}()
	<-done
	return said
}

// ruleOf returns the rule that makes a statement.
func ruleOf(t *testing.T, statement string) rule {
	t.Helper()
	all := rules()
	i := slices.IndexFunc(all, func(r rule) bool { return r.statement == statement })
	require.GreaterOrEqual(t, i, 0, "there is no rule %s", statement)
	return all[i]
}
