package statemachine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allowedImports is all that the machine may import. A package that reads a
// clock, draws random numbers, does I/O or synchronises has no place here: the
// replicas would differ, or wait for each other.
var allowedImports = map[string]string{
	"bufio":                                 "Dump",
	"bytes":                                 "keys of records, bytes to decode",
	"cmp":                                   "order",
	"container/heap":                        "the oldest of several buckets",
	"encoding/binary":                       "keys of records",
	"encoding/hex":                          "DirectoryID in text",
	"errors":                                "sentinels",
	"fmt":                                   "errors and Dump",
	"io":                                    "io.Writer of Dump",
	"iter":                                  "records and leases in sequence",
	"math":                                  "borders of numbers",
	"slices":                                "order",
	"time":                                  "time.Duration only, see the scan below",
	"github.com/palisade-go/palisade/token": "tokens",
	"github.com/vmihailenco/msgpack/v5":     "low-level encoding",
	"github.com/vmihailenco/msgpack/v5/msgpcode": "codes of msgpack values",
}

// allowedSelectors is what may be used of packages that could do harm.
var allowedSelectors = map[string][]string{
	"time":    {"Duration"},
	"msgpack": {"Encoder", "Decoder", "GetEncoder", "GetDecoder", "PutEncoder", "PutDecoder"},
}

func TestTheMachineIsPure(t *testing.T) {
	used := make(map[string]bool)
	files := token.NewFileSet()
	packages, err := parser.ParseDir(files, ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0)
	require.NoError(t, err)
	require.Len(t, packages, 1)
	for _, file := range packages["statemachine"].Files {
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			require.Contains(t, allowedImports, path, "%v imports a package that is not allowed", files.Position(spec.Pos()))
			require.Nil(t, spec.Name, "%v renames an import, which the scan would miss", files.Position(spec.Pos()))
			used[path] = true
		}
		ast.Inspect(file, func(n ast.Node) bool {
			for _, fault := range impurities(n) {
				t.Errorf("%v: %s", files.Position(n.Pos()), fault)
			}
			return true
		})
	}
	for path := range allowedImports {
		require.True(t, used[path], "%s is allowed but not imported any more: take it off the list", path)
	}
}

// impurities says what is wrong with a node of the syntax tree.
func impurities(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return []string{"go statement"}
	case *ast.SelectStmt:
		return []string{"select statement"}
	case *ast.ChanType:
		return []string{"channel"}
	case *ast.SendStmt:
		return []string{"send to a channel"}
	case *ast.SelectorExpr:
		pkg, ok := n.X.(*ast.Ident)
		if !ok || pkg.Obj != nil { // a local variable of that name
			return nil
		}
		allowed, watched := allowedSelectors[pkg.Name]
		if watched && !slices.Contains(allowed, n.Sel.Name) {
			return []string{pkg.Name + "." + n.Sel.Name + " is not allowed"}
		}
	case *ast.Ident:
		if n.Name == "float64" || n.Name == "float32" {
			return []string{"floating point number, which may differ by machine"}
		}
	}
	return nil
}

// The scan must find what it is for.
func TestTheScanFindsImpurities(t *testing.T) {
	const source = `package p
import "time"
func f(c chan int, m map[string]float64) {
	go f(c, m)
	select {}
	c <- int(time.Now().Unix())
	time.Sleep(1)
	var d time.Duration = 2
	_ = d
}`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	require.NoError(t, err)
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		found = append(found, impurities(n)...)
		return true
	})
	require.ElementsMatch(t, []string{
		"channel", "floating point number, which may differ by machine", "go statement", "select statement",
		"send to a channel", "time.Now is not allowed", "time.Sleep is not allowed",
	}, found)
}
