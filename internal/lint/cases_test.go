package lint

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCases(t *testing.T) {
	page := func(rows string) string {
		return "# Testing\n\n" + casesHeading + "\n\n| | failure | tests |\n|---|---|---|\n" + rows
	}
	test := func(names ...string) string {
		text := "package p\n"
		for _, name := range names {
			text += "\nfunc " + name + "(t *testing.T) { t.Run(\"ASub\", nil) }\n"
		}
		return text
	}
	const (
		both = "| S01 | lost | `a.TestS01Loss` |\n| S02 | late | `a.TestS02Late`, `b.TestOther/ASub` |\n"
		none = "| S02 | late | not applicable: not offered |\n"
	)
	a, b := test("TestS01Loss", "TestS02Late"), test("TestOther")
	check := func(t *Tree) []Finding { return checkCases(t, []int{1, 2}) }
	runSamples(t, check, []sample{
		{"AllAreThere", []string{"docs/testing.md", page(both), "x/a/a_test.go", a, "b/b_test.go", b}, nil},
		{"AReasonIsEnough", []string{"docs/testing.md", page("| S01 | lost | `a.TestS01Loss` |\n" + none),
			"a/a_test.go", test("TestS01Loss")}, nil},
		{"NoPage", nil, []string{"docs/testing.md: is not there"}},
		{"ARowIsMissing", []string{"docs/testing.md", page(none)}, []string{"has no row for S01"}},
		{"ARowOfAnotherSectionDoesNotCount", []string{"docs/testing.md", page(none + "\n## More\n\n| S01 | lost | not applicable: x |\n")},
			[]string{"has no row for S01"}},
		{"ANumberThatIsNone", []string{"docs/testing.md", page("| S01 | x | not applicable: x |\n" + none + "| S03 | x | not applicable: x |\n")},
			[]string{"docs/testing.md:9: S03 is the number of no failure"}},
		{"ASecondRow", []string{"docs/testing.md", page("| S01 | x | not applicable: x |\n" + none + none)},
			[]string{"docs/testing.md:9: S02 has a second row"}},
		{"NeitherTestNorReason", []string{"docs/testing.md", page("| S01 | x | not applicable: |\n| S02 | x | later |\n")},
			[]string{"S01 has neither a test nor", "S02 has neither a test nor"}},
		{"NoFailure", []string{"docs/testing.md", page("| S01 | | not applicable: x |\n" + none)},
			[]string{"S01 does not say what the failure is"}},
		{"ARenamedTestIsMissed", []string{"docs/testing.md", page(both), "a/a_test.go", test("TestS01Loss", "TestS02Later"), "b/b_test.go", b},
			[]string{"names TestS02Late of package a, which is not there", "a/a_test.go:5: a.TestS02Later is named for S02"}},
		{"ATestOfAnotherPackageIsNone", []string{"docs/testing.md", page(both), "a/a_test.go", a, "c/b_test.go", b},
			[]string{"names TestOther of package b, which is not there"}},
		{"AFunctionOutsideOfTestsIsNone", []string{"docs/testing.md", page(both), "a/a_test.go", a, "b/b.go", b},
			[]string{"names TestOther of package b, which is not there"}},
		{"ARenamedSubTestIsMissed", []string{"docs/testing.md", page("| S01 | x | `b.TestOther/Another` |\n" + none), "b/b_test.go", b},
			[]string{"names Another of b.TestOther"}},
		{"AScenarioIsASubTest", []string{"docs/testing.md", page("| S01 | x | `b.TestOther/s01_lost` |\n" + none),
			"b/b_test.go", b, "b/testdata/s01_lost.txt", ""}, nil},
		{"AScenarioOfAnotherPackageIsNone", []string{"docs/testing.md", page("| S01 | x | `b.TestOther/s01_lost` |\n" + none),
			"a/testdata/s01_lost.txt", "", "b/b_test.go", b}, []string{"names s01_lost of b.TestOther", "a/testdata/s01_lost.txt: s01_lost is named for S01"}},
		{"AScenarioStandsInTheRowOfItsNumber", []string{"docs/testing.md", page("| S01 | x | `b.TestOther` |\n" + none),
			"b/b_test.go", b, "b/testdata/s01_lost.txt", "", "b/testdata/sum_2.txt", ""}, []string{"b/testdata/s01_lost.txt: s01_lost is named for S01"}},
		{"ATestStandsInTheRowOfItsNumber", []string{"docs/testing.md", page("| S01 | x | `a.TestS02Late` |\n" + none), "a/a_test.go", test("TestS02Late")},
			[]string{"a/a_test.go:3: a.TestS02Late is named for S02"}},
	})
}

func TestThereAre104Cases(t *testing.T) {
	require.Len(t, cases, 104)
	sorted := slices.Sorted(slices.Values(cases))
	require.Len(t, slices.Compact(sorted), 104, "each number once")
}

func TestFaults(t *testing.T) {
	const list = "Heading.\n\n== a\nbreaks: G1\n---\nx\n+++\ny\n\n== b\n"
	runSamples(t, checkFaults, []sample{
		{"TheNumberIsRight", []string{"docs/testing.md", "There are 3 of them.", "internal/mutation/faults/a.txt", list,
			"internal/mutation/faults/b.txt", "== c\n"}, nil},
		{"OneWasAdded", []string{"docs/testing.md", "There are 2 of them.", "internal/mutation/faults/a.txt", list + "\n== c\n"},
			[]string{`"There are 3 of them"`}},
		{"NoListsNoNumber", []string{"docs/testing.md", ""}, nil},
	})
}
