package lint

import "testing"

func TestShown(t *testing.T) {
	const page = "| G1 | One owner | machine `TestG1OneOwner`, coordinator `TestG1OneOwner` |\n"
	test := func(name string) string { return "package p\n\nfunc " + name + "(t *testing.T) {}\n" }
	runSamples(t, checkShown, []sample{
		{"ATestThatIsThereIsFine", []string{"docs/guarantees.md", page, "statemachine/g_test.go", test("TestG1OneOwner")}, nil},
		{"ARenamedTestIsMissed", []string{"docs/guarantees.md", page, "statemachine/g_test.go", test("TestG1Owner")},
			[]string{"docs/guarantees.md:1: names TestG1OneOwner of package statemachine"}},
		{"AnotherPackagesTestDoesNotCount", []string{"docs/guarantees.md", page,
			"coordinator/g_test.go", test("TestG2Tokens"), "statemachine/g_test.go", test("TestG1OneOwner")},
			[]string{"of package coordinator"}},
		{"APackageWithoutTestsOfGuaranteesIsLeftAlone",
			[]string{"docs/guarantees.md", page, "coordinator/x_test.go", test("TestGuard")}, nil},
		{"APageAboutGuardsNamesTestsOfAnyModule", []string{"docs/fencing/sql.md", "`TestOrder`, `TestRules/All`\n",
			"token/a/go.mod", "module a\n", "token/a/x_test.go", test("TestOrder"), "token/b/x_test.go", test("TestRules")}, nil},
		{"ATestOfNoGuardIsMissed", []string{"docs/fencing.md", "\n`TestOrder/Sub`\n", "token/x_test.go", test("TestRules"),
			"token/x.go", test("TestOrder")}, []string{"docs/fencing.md:2: names TestOrder, which is not there"}},
	})
}
