package fencetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const walkRule = "ThreeWritersInAnyOrderGiveWhatTheReferenceGives"

func TestWalkHasEveryOrderAndEveryScriptOnce(t *testing.T) {
	seen := make(map[string]bool)
	for _, order := range interleavings() {
		require.Len(t, order, 6)
		seen[fmt.Sprint(order)] = true
	}
	require.Len(t, seen, 90, "6!/(2!2!2!)")

	clear(seen)
	swap := strings.NewReplacer("a", "b", "b", "a")
	for _, s := range scriptsOf(Traits{}) {
		text := fmt.Sprintf("%q", s)
		require.True(t, text == swap.Replace(text) || !seen[swap.Replace(text)], "%s is there with its names swapped", text)
		seen[text] = true
	}
	require.Len(t, seen, 365, "3^6 choices, of which all but one are two with the names swapped")
	require.Equal(t, []script{{}}, scriptsOf(Traits{NoOperations: true}))
}

func TestWalkIsCompleteWithEnoughSteps(t *testing.T) {
	require.Equal(t, 197_100, StepsForAll)
	for steps, says := range map[int]string{
		StepsForAll: "walked 32850 of 32850 ways of 6 writes",
		2000:        "walked 33", // every 98th, from any of the first
	} {
		said := try(t, ruleOf(t, walkRule), Traits{Steps: steps, Seed: seedOfRun(t)}, newNaive())
		require.Empty(t, said.failure)
		require.Contains(t, strings.Join(said.logged, "\n"), says)
	}
}

func TestWalkAloneFindsWhatIsWrongWithOperations(t *testing.T) {
	for _, f := range []fault{
		takesLower, refusesEqual, staleBeforeRepeated, repeatRaisesNothing, repeatLowers, repeatGivesOwnToken,
		repeatGivesNewValue, repeatWrites, repeatIsNotSaid, refusedLowers, refusedIsRecorded, emptyIsAnOperation,
	} {
		g := newNaive()
		g.fault = f
		require.NotEmpty(t, try(t, ruleOf(t, walkRule), Traits{Steps: 2000, Seed: seedOfRun(t)}, g).failure, f)
	}
}
