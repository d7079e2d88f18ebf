package lint

import (
	"fmt"
	"go/token"
)

// Finding is one place where a rule is broken.
type Finding struct {
	Path string
	Line int // 0: the file as a whole
	Text string
}

// String returns the finding as path:line: text.
func (f Finding) String() string {
	if f.Line == 0 {
		return f.Path + ": " + f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text)
}

// Rule is one check of the whole tree. Check returns where it is broken, in
// the order of the files.
type Rule struct {
	Name  string
	Check func(*Tree) []Finding
}

// Rules are the rules of this repository in the order of the package comment.
func Rules() []Rule {
	return []Rule{
		{"engine", checkEngine},
		{"direction", checkDirection},
		{"dependencies", checkDependencies},
		{"test-code", checkTestCode},
		{"pure", checkPure},
		{"pure-present", checkPurePresent},
		{"reflection", checkReflection},
		{"package-names", checkPackageNames},
		{"package-docs", checkPackageDocs},
		{"docs", checkDocs},
		{"length", checkLength},
		{"sleep", func(t *Tree) []Finding { return checkSleep(t, sleepers) }},
		{"machine-paths", checkMachinePaths},
		{"links", checkLinks},
		{"readme", checkReadme},
		{"shown", checkShown},
		{"cases", func(t *Tree) []Finding { return checkCases(t, cases) }},
		{"faults", checkFaults},
	}
}

// findings collects what one check found.
type findings []Finding

func (fs *findings) at(f *File, line int, format string, args ...any) {
	*fs = append(*fs, Finding{Path: f.Path, Line: line, Text: fmt.Sprintf(format, args...)})
}

func (fs *findings) node(f *File, pos token.Pos, format string, args ...any) {
	fs.at(f, f.Line(pos), format, args...)
}
