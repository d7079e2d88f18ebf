package lint

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// casesHeading begins the section of docs/testing.md whose table has a row for
// each failure that other lock services had.
const casesHeading = "## Failures that other lock services had"

// cases are the numbers of these failures. None is dropped and none is given to
// another failure; a new one gets a new number here and a row there.
var cases = []int{
	1, 3, 5, 6, 7, 8, 9, // a loss that is not noticed
	10, 12, 13, 15, 17, 18, 19, 21, // two owners
	22, 23, 25, 26, 27, 28, // tokens
	29, 30, 32, 34, 35, 36, 38, // waiters that have left
	39, 40, 41, 42, 44, 46, 47, 48, 51, 52, 53, // expiry and changes of leader
	54, 55, 57, 59, 61, 62, // release
	63, 64, 66, 68, 69, 70, 71, 156, // renewing
	72, 73, // tries
	76, 78, 80, 81, 82, // queues
	84, 85, 86, 90, 91, // several keys
	92, 94, 96, 97, // counted claims
	98, 100, 102, // shared claims
	103, 104, 106, // handles
	107, 109, 111, // arguments
	114, 115, 117, 119, 120, 122, // the end of a node
	123, 124, // memory
	126, 128, 131, // clocks
	132, 134, 136, 138, 140, 141, 142, 143, // snapshots and disks
	144, 146, 147, 149, 150, // members and directories
	151, 154, // observers
}

var (
	caseRow  = regexp.MustCompile(`^\| S(\d+) \|(.*)\|(.*)\|$`)
	caseTest = regexp.MustCompile(`^TestS(\d+)`)
	// caseScenario is a file that a test of scenarios runs as a sub-test.
	caseScenario = regexp.MustCompile(`/testdata/s(\d+)_\w+\.txt$`)
	// namedTest is a test in a cell: package, name and maybe a sub-test.
	namedTest = regexp.MustCompile("`(\\w+)\\.(Test\\w+)(?:/(\\w+))?`")
)

// notApplicable begins the cell of a failure that can't happen here.
const notApplicable = "not applicable: "

// checkCases compares the table of docs/testing.md with the numbers and with the
// tests that are there: each failure has a row, each row says what it is and has
// tests or a reason why there are none, and each test or scenario that is named
// for a failure stands in its row.
func checkCases(t *Tree, cases []int) []Finding {
	const page = "docs/testing.md"
	doc := t.Find(page)
	if doc == nil {
		return []Finding{{Path: page, Text: "is not there: it has the failures that other lock services had"}}
	}
	var found findings
	tests := t.testsByPackage()
	have := make(map[int]bool)
	shown := make(map[shownCase]bool)
	for _, row := range caseRows(doc) {
		switch {
		case have[row.number]:
			found.at(doc, row.line, "S%02d has a second row", row.number)
		case !slices.Contains(cases, row.number):
			found.at(doc, row.line, "S%02d is the number of no failure", row.number)
		}
		have[row.number] = true
		t.checkCase(row, doc, tests, shown, &found)
	}
	for _, number := range cases {
		if !have[number] {
			found.at(doc, 0, "has no row for S%02d", number)
		}
	}
	return append(found, t.unshownCases(shown)...)
}

// shownCase is what stands in the row of a failure: package.Test, or
// package/sub-test.
type shownCase struct {
	number int
	name   string
}

// caseLine is one row of the table.
type caseLine struct {
	number, line  int
	failure, cell string
}

// caseRows reads the table.
func caseRows(doc *File) (rows []caseLine) {
	section := false
	for i, line := range strings.Split(doc.Text, "\n") {
		if strings.HasPrefix(line, "## ") {
			section = line == casesHeading
		}
		if m := caseRow.FindStringSubmatch(line); section && m != nil {
			number, _ := strconv.Atoi(m[1]) // the pattern has digits only
			rows = append(rows, caseLine{number, i + 1, strings.TrimSpace(m[2]), strings.TrimSpace(m[3])})
		}
	}
	return rows
}

// checkCase looks at one row, and notes what it shows.
func (t *Tree) checkCase(row caseLine, doc *File, tests map[string]map[string]*File, shown map[shownCase]bool, found *findings) {
	if row.failure == "" {
		found.at(doc, row.line, "S%02d does not say what the failure is", row.number)
	}
	named := namedTest.FindAllStringSubmatch(row.cell, -1)
	reason, hasReason := strings.CutPrefix(row.cell, notApplicable)
	if len(named) == 0 && (!hasReason || strings.TrimSpace(reason) == "") {
		found.at(doc, row.line, "S%02d has neither a test nor %q and a reason", row.number, notApplicable)
	}
	for _, m := range named {
		pkg, test, sub := m[1], m[2], m[3]
		in := tests[pkg][test]
		shown[shownCase{row.number, pkg + "." + test}] = true
		shown[shownCase{row.number, pkg + "/" + sub}] = true
		switch {
		case in == nil:
			found.at(doc, row.line, "names %s of package %s, which is not there", test, pkg)
		case sub != "" && !strings.Contains(in.Text, `"`+sub+`"`) && t.Find(in.Dir()+"/testdata/"+sub+".txt") == nil:
			found.at(doc, row.line, "names %s of %s.%s, which is not there", sub, pkg, test)
		}
	}
}

// unshownCases finds the tests and scenarios that are named for a failure and
// don't stand in its row.
func (t *Tree) unshownCases(shown map[shownCase]bool) []Finding {
	var found findings
	const text = "%s is named for S%02d and does not stand in its row of docs/testing.md"
	for _, f := range t.Files {
		if m := caseScenario.FindStringSubmatch(f.Path); m != nil {
			number, _ := strconv.Atoi(m[1])
			sub := strings.TrimSuffix(path.Base(f.Path), ".txt")
			if !shown[shownCase{number, path.Base(path.Dir(f.Dir())) + "/" + sub}] {
				found.at(f, 0, text, sub, number)
			}
		}
		for _, fn := range f.tests() {
			m := caseTest.FindStringSubmatch(fn.Name.Name)
			if m == nil {
				continue
			}
			number, _ := strconv.Atoi(m[1])
			if name := path.Base(f.Dir()) + "." + fn.Name.Name; !shown[shownCase{number, name}] {
				found.node(f, fn.Pos(), text, name, number)
			}
		}
	}
	return found
}

// tests lists the test functions of a file, and what looks like one.
func (f *File) tests() []*ast.FuncDecl {
	if f.Syntax == nil || !f.IsTest() {
		return nil
	}
	var list []*ast.FuncDecl
	for _, decl := range f.Syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
			list = append(list, fn)
		}
	}
	return list
}

// testsByPackage maps the last names of the packages' directories to their
// tests, and those to their files.
func (t *Tree) testsByPackage() map[string]map[string]*File {
	all := make(map[string]map[string]*File)
	for _, f := range t.GoFiles() {
		base := path.Base(f.Dir())
		if all[base] == nil {
			all[base] = make(map[string]*File)
		}
		for _, fn := range f.tests() {
			all[base][fn.Name.Name] = f
		}
	}
	return all
}
