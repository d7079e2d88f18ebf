package lint

import (
	"go/ast"
	"go/token"
)

// selector is one use of a name of an imported package, as in time.Now.
type selector struct {
	Name string
	Pos  token.Pos
}

// selectors lists where the file uses names of the package with that path,
// whatever the file calls it. A local variable that hides the package's name
// is taken for the package.
func (f *File) selectors(importPath string) []selector {
	names := make(map[string]bool)
	for _, imp := range f.Imports() {
		if imp.Path == importPath {
			names[imp.Name] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	var list []selector
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && names[id.Name] {
				list = append(list, selector{Name: sel.Sel.Name, Pos: sel.Pos()})
			}
		}
		return true
	})
	return list
}
