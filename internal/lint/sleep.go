package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"sort"
)

// sleepers are the files that may sleep, each with the reason why no signal
// can be waited for.
var sleepers = map[string]string{}

// checkSleep finds tests and test kits that wait for time to pass instead of
// for something to happen: such a test fails on a busy machine and wastes
// time on an idle one. An entry of allowed that excuses nothing is a finding
// too.
func checkSleep(t *Tree, allowed map[string]string) []Finding {
	var found findings
	used := make(map[string]bool)
	for _, f := range t.GoFiles() {
		if _, isKit := kitOf(f.Dir()); !f.IsTest() && !isKit {
			continue
		}
		for _, sel := range f.sleeps() {
			used[f.Path] = true
			if allowed[f.Path] == "" {
				found.node(f, sel.Pos, "waits with time.%s: wait for the event, on a channel or by a hook, "+
					"or move an injected clock", sel.Name)
			}
		}
	}
	var stale []string
	for name := range allowed {
		if !used[name] {
			stale = append(stale, name)
		}
	}
	sort.Strings(stale)
	for _, name := range stale {
		found = append(found, Finding{Path: name, Text: fmt.Sprintf(
			"may sleep (%s) but does not: take it off the list in internal/lint/sleep.go", allowed[name])})
	}
	return found
}

// sleeps lists the calls of time.Sleep, and the receives from time.After that
// stand alone. In a select that is a time limit, not a sleep.
func (f *File) sleeps() []selector {
	inSelect := make(map[ast.Stmt]bool)
	alone := make(map[token.Pos]bool)
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CommClause:
			inSelect[n.Comm] = true
		case *ast.ExprStmt:
			receive, ok := n.X.(*ast.UnaryExpr)
			if !ok || receive.Op != token.ARROW || inSelect[n] {
				return true
			}
			if call, ok := receive.X.(*ast.CallExpr); ok {
				alone[call.Fun.Pos()] = true
			}
		}
		return true
	})
	var list []selector
	for _, sel := range f.selectors("time") {
		if sel.Name == "Sleep" || sel.Name == "After" && alone[sel.Pos] {
			list = append(list, sel)
		}
	}
	return list
}
