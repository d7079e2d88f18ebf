package fencetest

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/token"
)

var childFlag = flag.String("fencetest.child", "", "what TestInAChild runs the suite on: a fault, or few steps")

const tooFewSteps = "too few steps"

// TestInAChild fails, which is looked at from outside.
func TestInAChild(t *testing.T) {
	if *childFlag == "" {
		t.Skip("it is run by TestRunFailsTheTestOfABrokenGuard, in a process of its own")
	}
	traits := TraitsOfRun()
	if *childFlag == tooFewSteps {
		traits.Steps = StepsMin - 1
	}
	Run(t, traits, func(*testing.T) Guard {
		g := newNaive()
		g.fault = fault(*childFlag)
		return g
	})
}

// inAChild returns what the test said and whether it passed.
func inAChild(t *testing.T, what string) (said string, passed bool) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	out, err := exec.Command(program, "-test.v", "-test.run", "^TestInAChild$", "-fencetest.child", what).CombinedOutput()
	return string(out), err == nil
}

func TestRunFailsTheTestOfABrokenGuard(t *testing.T) {
	t.Run("InTheRuleThatItBreaks", func(t *testing.T) {
		said, passed := inAChild(t, string(sharesReceipts))
		require.False(t, passed)
		require.Contains(t, said, "--- FAIL: TestInAChild/AReceiptIsItsCallersOwn")
		require.Contains(t, said, "--- PASS: TestInAChild/ALowerTokenIsRefusedNamingBoth")
		require.Contains(t, said, "repeat.go:", "the line of the rule's step")
		require.Contains(t, said, `expected: repeated, with a receipt of token 5 and value "1"`)
		require.Contains(t, said, "by: rule 7 of package token")
		require.Contains(t, said, "calls at the resource so far: 2\n")
		require.Contains(t, said, `  1-2 Append("list", token 5, operation "bill", entry "entry 1") = written`)
		require.NotContains(t, said, "panic")
	})
	t.Run("NamingTheSeedThatDrewIt", func(t *testing.T) {
		said, passed := inAChild(t, string(failedRaises))
		require.False(t, passed)
		require.Contains(t, said, "--- FAIL: TestInAChild/RandomWritesGiveWhatTheReferenceGives")
		require.Regexp(t, `to draw the same again: Traits.Seed = [1-9]\d+, Traits.Steps = 2000\n`, said)
	})
	t.Run("AndSaysWhatItSkips", func(t *testing.T) {
		said, _ := inAChild(t, string(failedRaises))
		require.Contains(t, said, "--- SKIP: TestInAChild/OperationsSurviveAReopen")
		require.Contains(t, said, "the guard can't be opened again")
	})
	t.Run("AndTakesNoFewerStepsThanStepsMin", func(t *testing.T) {
		said, passed := inAChild(t, tooFewSteps)
		require.False(t, passed)
		require.Contains(t, said, "Traits.Steps is 499; it has to be zero or at least 500")
		require.NotContains(t, said, "TestInAChild/")
	})
}

func TestRulesAreStatementsOfTheirOwn(t *testing.T) {
	known := make(map[string]bool)
	for _, r := range rules() {
		require.False(t, known[r.statement], r.statement)
		require.Regexp(t, `^[A-Z][A-Za-z]+$`, r.statement)
		known[r.statement] = true
	}
}

func TestRulesAreKeptFromGuardsThatLackWhatTheyNeed(t *testing.T) {
	reopen := func(_ *testing.T, g Guard) Guard { return g }
	for _, row := range []struct {
		what   string
		traits Traits
		lacks  []string
	}{
		{"a guard that can do all", Traits{Reopen: reopen}, []string{
			"AFailedOperationIsNeverCalledDone", "AFailedWriteKeepsTheFence",
		}},
		{"a guard that can't take a write back", Traits{Reopen: reopen, KeepsFenceOfFailedWrite: true}, []string{
			"AFailedWriteLeavesNothing", "AFailedWriteLeavesNothingOfItsOperation",
		}},
		{"a guard that forgets", Traits{}, []string{
			"AFailedOperationIsNeverCalledDone", "AFailedWriteKeepsTheFence", "FencesAndListsSurviveAReopen", "OperationsSurviveAReopen",
		}},
		{"a guard without operations", Traits{Reopen: reopen, NoOperations: true}, []string{
			"AFailedOperationIsNeverCalledDone", "AFailedWriteKeepsTheFence", "AFailedWriteLeavesNothingOfItsOperation",
			"ARepeatedOperation*", "AcceptTakesNoOperation", "AReceiptIsItsCallersOwn", "AnOperation*", "OperationIDsAreComparedByteByByte",
			"OperationsSurviveAReopen", "ResourceAndOperationAreNotJoined", "TokenAndOperationCatchWhatTheOtherCannot",
		}},
	} {
		t.Run(row.what, func(t *testing.T) {
			for _, r := range rules() {
				lacks := false
				for _, statement := range row.lacks {
					prefix, many := strings.CutSuffix(statement, "*")
					lacks = lacks || r.statement == statement || many && strings.HasPrefix(r.statement, prefix)
				}
				require.Equal(t, lacks, r.without(row.traits) != "", r.statement)
			}
		})
	}
}

// counting is a guard that counts the ids of operations at each resource.
type counting struct {
	*naive
	mu  sync.Mutex
	ids map[string]map[token.Operation]bool
}

func (g *counting) Append(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	g.count(w)
	return g.naive.Append(ctx, w, entry)
}

func (g *counting) AppendOnce(ctx context.Context, w token.Write, entry string) (token.Receipt, error) {
	g.count(w)
	return g.naive.AppendOnce(ctx, w, entry)
}

func (g *counting) count(w token.Write) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ids[w.Resource] == nil {
		g.ids[w.Resource] = make(map[token.Operation]bool)
	}
	if w.Operation != "" {
		g.ids[w.Resource][w.Operation] = true
	}
}

func TestTheSuiteUsesAsManyOperationsAsItSays(t *testing.T) {
	most := 0
	traits := Traits{Seed: seedOfRun(t), Steps: 5000}
	for _, r := range rules() {
		if r.without(traits) != "" {
			continue
		}
		g := &counting{naive: newNaive(), ids: make(map[string]map[token.Operation]bool)}
		r.run(newTrial(context.Background(), t, traits, g), nil)
		for resource, ids := range g.ids {
			require.LessOrEqual(t, len(ids), 64, "%s: %s", r.statement, clip(resource))
			most = max(most, len(ids))
		}
	}
	require.Equal(t, 64, most)
	require.Equal(t, 64, OperationsMax)
}
