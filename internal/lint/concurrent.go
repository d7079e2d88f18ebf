package lint

import (
	"go/ast"
	"slices"
)

// Concurrent lists the directories of the packages for which a run with the
// race detector can find something, as ./a/b, in order: those whose source or
// tests start a goroutine, take a lock or use an atomic. Modules below the
// root are left out.
func Concurrent(t *Tree) []string {
	var dirs []string
	for dir, files := range t.Packages() {
		for _, f := range files {
			if !t.InNestedModule(f) && f.isConcurrent() {
				dirs = append(dirs, "./"+dir)
				break
			}
		}
	}
	slices.Sort(dirs)
	return dirs
}

func (f *File) isConcurrent() bool {
	for _, imp := range f.Imports() {
		if imp.Path == "sync" || imp.Path == "sync/atomic" {
			return true
		}
	}
	found := false
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if _, ok := n.(*ast.GoStmt); ok {
			found = true
		}
		return !found
	})
	return found
}
