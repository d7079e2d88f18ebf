package lint

import (
	"go/ast"
	"go/token"
	"strings"
	"unicode"
)

// checkDocs wants a doc comment on every exported function, type, constant
// and variable, and on every exported method of an exported type. A comment
// on a group counts for its constants and variables, one at the end of the
// line for its line, and one on an earlier line of the group for the names it
// mentions. Fields and methods of interfaces are left to review.
func checkDocs(t *Tree) []Finding {
	var found findings
	for _, f := range t.GoFiles() {
		if f.IsTest() {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Name.IsExported() && hasExportedReceiver(decl) && decl.Doc.Text() == "" {
					found.node(f, decl.Pos(), "%s has no doc comment", decl.Name.Name)
				}
			case *ast.GenDecl:
				checkGroup(f, decl, &found)
			}
		}
	}
	return found
}

func checkGroup(f *File, group *ast.GenDecl, found *findings) {
	mentioned := make(map[string]bool)
	for _, spec := range group.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			alone := !group.Lparen.IsValid() && group.Doc.Text() != ""
			if spec.Name.IsExported() && !alone && spec.Doc.Text() == "" {
				found.node(f, spec.Pos(), "%s has no doc comment", spec.Name.Name)
			}
		case *ast.ValueSpec:
			if group.Doc.Text() != "" || spec.Doc.Text() != "" || spec.Comment.Text() != "" {
				for _, word := range strings.FieldsFunc(spec.Doc.Text(), notInName) {
					mentioned[word] = true
				}
				continue
			}
			for _, name := range spec.Names {
				if name.IsExported() && !mentioned[name.Name] {
					found.node(f, name.Pos(), "%s has no doc comment", name.Name)
				}
			}
		}
	}
}

func notInName(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// hasExportedReceiver says whether users can see the function: it is none of
// an unexported type's methods.
func hasExportedReceiver(decl *ast.FuncDecl) bool {
	if decl.Recv == nil || len(decl.Recv.List) == 0 {
		return true
	}
	expr := decl.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return token.IsExported(e.Name)
		default:
			return false
		}
	}
}
