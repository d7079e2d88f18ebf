package lint

import (
	"path"
	"slices"
	"strings"
)

// namelessNames are package names that say nothing about what is inside.
var namelessNames = []string{"base", "common", "helper", "helpers", "lib", "misc", "shared", "types", "util", "utils"}

func checkPackageNames(t *Tree) []Finding {
	var found findings
	for _, f := range t.GoFiles() {
		for _, name := range []string{path.Base(f.Dir()), strings.TrimSuffix(f.Syntax.Name.Name, "_test")} {
			if slices.Contains(namelessNames, name) || strings.HasSuffix(name, "util") || strings.HasSuffix(name, "utils") {
				found.node(f, f.Syntax.Package, "is in a package named %q: name the noun that its contents are about", name)
				break
			}
		}
	}
	return found
}

// checkPackageDocs wants one package comment a package. Two would be joined by
// go doc in the order of the file names.
func checkPackageDocs(t *Tree) []Finding {
	var found findings
	reported := make(map[string]bool)
	packages := t.Packages()
	for _, f := range t.GoFiles() {
		if f.IsTest() || reported[f.Dir()] {
			continue
		}
		reported[f.Dir()] = true
		var with []string
		for _, g := range packages[f.Dir()] {
			if !g.IsTest() && g.Syntax.Doc.Text() != "" {
				with = append(with, g.Path)
			}
		}
		switch {
		case len(with) == 0:
			found.at(f, 0, "package %s has no package comment: say in doc.go what it is for", f.Syntax.Name.Name)
		case len(with) > 1:
			found.at(f, 0, "package %s has %d package comments, in %s: keep one", f.Syntax.Name.Name, len(with), strings.Join(with, ", "))
		}
	}
	return found
}

// LinesMax is the greatest number of lines of a Go file.
const LinesMax = 500

func checkLength(t *Tree) []Finding {
	var found findings
	for _, f := range t.GoFiles() {
		if lines := strings.Count(f.Text, "\n"); lines > LinesMax {
			found.at(f, 0, "has %d lines, more than %d: find the second noun and give it a file", lines, LinesMax)
		}
	}
	return found
}
