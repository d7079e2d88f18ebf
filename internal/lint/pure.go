package lint

import (
	"go/ast"
	"go/token"
	"slices"
)

// purePackage is a package whose result may depend on its input alone.
type purePackage struct {
	Dir string
	// Above is the directory that can't be there without this package.
	Above string
	// Imports are allowed besides pureStandard.
	Imports []string
	// Files are allowed further imports each, for a reason given here.
	Files map[string][]string
}

// pureStandard are the packages of the standard library that every pure
// package may import. None of them reads a clock (time's functions that do
// are forbidden by name), starts a goroutine or reaches outside the process.
var pureStandard = []string{
	"bufio", "bytes", "cmp", "container/heap", "container/list", "crypto/sha256", "encoding", "encoding/binary",
	"encoding/hex", "errors", "fmt", "hash", "hash/crc32", "hash/fnv", "io", "iter", "maps", "math", "math/bits",
	"slices", "sort", "strconv", "strings", "time", "unicode", "unicode/utf8",
}

// clockFunctions are the functions of package time that read a clock or wait
// for one.
var clockFunctions = []string{
	"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until",
}

// What the pure packages of the protocol decide about, and count in.
const (
	machine  = Module + "/statemachine"
	internal = Module + "/coordinator/internal"
	instant  = internal + "/clock"
)

// purePackages are the pure packages, without what is below them.
var purePackages = []purePackage{
	{
		Dir: "token", Above: "statemachine",
		Imports: []string{"database/sql", "database/sql/driver", "encoding/json"},
		// The guard is shared by the goroutines of a program.
		Files: map[string][]string{"token/guard.go": {"sync", "sync/atomic"}},
	},
	{
		Dir: "statemachine", Above: ".",
		Imports: []string{"github.com/vmihailenco/msgpack/v5", "github.com/vmihailenco/msgpack/v5/msgpcode", Module + "/token"},
	},
	{Dir: "coordinator/internal/keeper", Above: "coordinator", Imports: []string{machine, instant}},
	{Dir: "coordinator/internal/batcher", Above: "coordinator", Imports: []string{machine, instant}},
	{Dir: "coordinator/internal/expiry", Above: "coordinator", Imports: []string{machine, instant}},
	{
		Dir: "coordinator/internal/hub", Above: "coordinator",
		Imports: []string{machine, instant, Module + "/token", internal + "/batcher", internal + "/keeper"},
	},
}

func checkPure(t *Tree) []Finding {
	var found findings
	packages := t.Packages()
	for _, p := range purePackages {
		for _, f := range packages[p.Dir] {
			if f.IsTest() {
				continue
			}
			p.checkImports(f, &found)
			p.checkSyntax(f, &found)
		}
	}
	return found
}

func (p purePackage) checkImports(f *File, found *findings) {
	for _, imp := range f.Imports() {
		if slices.Contains(pureStandard, imp.Path) || slices.Contains(p.Imports, imp.Path) ||
			slices.Contains(p.Files[f.Path], imp.Path) {
			continue
		}
		found.at(f, imp.Line, "imports %s into the pure package %s: let the caller do it and hand in the result", imp.Path, p.Dir)
	}
	for _, sel := range f.selectors("time") {
		if slices.Contains(clockFunctions, sel.Name) {
			found.node(f, sel.Pos, "calls time.%s in the pure package %s: time comes in as an argument", sel.Name, p.Dir)
		}
	}
}

func (p purePackage) checkSyntax(f *File, found *findings) {
	report := func(pos token.Pos, what string) {
		found.node(f, pos, "%s in the pure package %s: return what is to be done and let the caller do it", what, p.Dir)
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n.Pos(), "starts a goroutine")
		case *ast.SelectStmt:
			report(n.Pos(), "has a select statement")
		case *ast.ChanType:
			report(n.Pos(), "has a channel type")
		case *ast.SendStmt:
			report(n.Pos(), "sends to a channel")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				report(n.Pos(), "receives from a channel")
			}
		}
		return true
	})
}

// checkPurePresent finds a pure package that was moved without its line in
// purePackages, which would then guard nothing. A package is missed only once
// the directory above it has Go files, or is the root.
func checkPurePresent(t *Tree) []Finding {
	var found findings
	packages := t.Packages()
	for _, p := range purePackages {
		if len(packages[p.Dir]) > 0 {
			continue
		}
		if p.Above == "." || len(packages[p.Above]) > 0 {
			found = append(found, Finding{Path: p.Dir, Text: "the pure package is not there: " +
				"if it has a new name, give that name to the rule in internal/lint/pure.go"})
		}
	}
	return found
}

// checkReflection keeps bytes from the wire and the disk away from decoders
// that size what they allocate by what the bytes claim.
func checkReflection(t *Tree) []Finding {
	var found findings
	for _, f := range t.GoFiles() {
		if f.IsTest() {
			continue
		}
		for _, imp := range f.Imports() {
			if imp.Path == "encoding/gob" {
				found.at(f, imp.Line, "imports encoding/gob: encode field by field with msgpack's encoder")
			}
		}
		for _, sel := range f.selectors("github.com/vmihailenco/msgpack/v5") {
			if sel.Name == "Marshal" || sel.Name == "Unmarshal" {
				found.node(f, sel.Pos, "calls msgpack.%s: encode and decode field by field, with every length checked first", sel.Name)
			}
		}
	}
	return found
}
