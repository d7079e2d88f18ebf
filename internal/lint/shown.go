package lint

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// shownBy matches a claim of docs/guarantees.md that a test shows something:
// the package by its last name, then the test.
var shownBy = regexp.MustCompile("(\\w+) `(Test\\w+)`")

// checkShown looks for the tests that the docs name.
func checkShown(t *Tree) []Finding {
	return append(t.checkGuarantees(), t.checkFencing()...)
}

// checkGuarantees looks for the tests that docs/guarantees.md names. A package
// is left alone until it has a test of a guarantee, one whose name begins with
// TestG and a digit; from then on all that are named have to be there.
func (t *Tree) checkGuarantees() []Finding {
	const page = "docs/guarantees.md"
	doc := t.Find(page)
	if doc == nil {
		return nil
	}
	tests := t.guaranteeTests()
	var found findings
	for i, line := range strings.Split(doc.Text, "\n") {
		for _, m := range shownBy.FindAllStringSubmatch(line, -1) {
			name, test := m[1], m[2]
			if name == "machine" {
				name = "statemachine"
			}
			if have := tests[name]; have != nil && !have[test] {
				found.at(doc, i+1, "names %s of package %s, which is not there: no claim without its test", test, name)
			}
		}
	}
	return found
}

// shownAnywhere matches the name of a test in a page about guards, with or
// without a sub-test.
var shownAnywhere = regexp.MustCompile("`(Test\\w+)[`/]")

// checkFencing looks for the tests that the pages about guards name, in
// whatever package and module they are.
func (t *Tree) checkFencing() []Finding {
	tests := make(map[string]bool)
	for _, f := range t.GoFiles() {
		if !f.IsTest() {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				tests[fn.Name.Name] = true
			}
		}
	}
	var found findings
	for _, doc := range t.Files {
		if doc.Path != "docs/fencing.md" && doc.Dir() != "docs/fencing" {
			continue
		}
		for i, line := range strings.Split(doc.Text, "\n") {
			for _, m := range shownAnywhere.FindAllStringSubmatch(line, -1) {
				if !tests[m[1]] {
					found.at(doc, i+1, "names %s, which is not there: no claim without its test", m[1])
				}
			}
		}
	}
	return found
}

// guaranteeTests lists the tests of guarantees by the last name of their
// package's directory.
func (t *Tree) guaranteeTests() map[string]map[string]bool {
	tests := make(map[string]map[string]bool)
	for _, f := range t.GoFiles() {
		if !f.IsTest() {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !guaranteeTest.MatchString(fn.Name.Name) {
				continue
			}
			base := path.Base(f.Dir())
			if tests[base] == nil {
				tests[base] = make(map[string]bool)
			}
			tests[base][fn.Name.Name] = true
		}
	}
	return tests
}

var guaranteeTest = regexp.MustCompile(`^TestG\d`)
