package lint

import "testing"

func TestDocs(t *testing.T) {
	one := func(declaration string) []string {
		return []string{"token/x.go", "package token\n\n" + declaration + "\n"}
	}
	runSamples(t, checkDocs, []sample{
		{"AFunctionWithoutIsReported", one("func Parse() {}"), []string{"x.go:3: Parse has no doc comment"}},
		{"AMethodWithoutIsReported", one("func (t *Token) Epoch() {}"), []string{"Epoch has no doc comment"}},
		{"AMethodOfAGenericTypeCounts", one("func (s *Set[K]) Len() {}"), []string{"Len has no doc comment"}},
		{"ATypeWithoutIsReported", one("type Token uint64"), []string{"Token has no doc comment"}},
		{"ATypeInAGroupNeedsItsOwn", one("// Types.\ntype (\n\tToken uint64\n)"), []string{"x.go:5: Token has no doc comment"}},
		{"AConstantWithoutIsReported", one("const (\n\tZero = 0\n)"), []string{"Zero has no doc comment"}},
		{"AVariableWithoutIsReported", one("var ErrStale error"), []string{"ErrStale has no doc comment"}},
		{"ACommentOnTheGroupCounts", one("// The kinds.\nconst (\n\tA = 1\n\tB = 2\n)"), nil},
		{"ACommentAtTheEndOfTheLineCounts", one("const (\n\tA = 1 // the first\n)"), nil},
		{"ACommentCountsForTheNamesItMentions", one("const (\n\t// A and B are kinds.\n\tA = 1\n\tB = 2\n)"), nil},
		{"AndForNoOthers", one("const (\n\t// A is a kind.\n\tA = 1\n\tB = 2\n)"), []string{"x.go:6: B has no doc comment"}},
		{"ADirectiveIsNoComment", one("//go:noinline\nfunc Parse() {}"), []string{"Parse has no doc comment"}},
		{"UnexportedNamesNeedNone", one("func parse() {}\n\ntype token uint64\n\nfunc (t token) String() {}"), nil},
		{"DocumentedNamesAreFine", one("// Parse parses.\nfunc Parse() {}\n\n// Token is a number.\ntype Token uint64"), nil},
		{"TestsNeedNone", []string{"token/x_test.go", "package token\n\nfunc TestX() {}\n"}, nil},
	})
}
