package token_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allowedImports is all that the package may use: the standard library, and
// of that nothing that does I/O, waits or tells the time.
var allowedImports = []string{
	"database/sql/driver", "encoding/binary", "errors", "fmt", "strconv", "strings", "sync", "sync/atomic",
	"unicode/utf8",
}

// impurities lists what a file must not contain.
func impurities(t *testing.T, name string, source any) []string {
	t.Helper()
	files := gotoken.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	require.NoError(t, err)
	var found []string
	report := func(node ast.Node, what string) {
		found = append(found, files.Position(node.Pos()).String()+": "+what)
	}
	for _, imported := range file.Imports {
		path, err := strconv.Unquote(imported.Path.Value)
		require.NoError(t, err)
		if !slices.Contains(allowedImports, path) {
			report(imported, "import "+path)
		}
		if strings.HasPrefix(path, "sync") && name != "guard.go" {
			report(imported, "import "+path+" outside the Guard")
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			report(node, "go statement")
		case *ast.SelectStmt:
			report(node, "select")
		case *ast.ChanType:
			report(node, "chan type")
		case *ast.SelectorExpr:
			if from, ok := node.X.(*ast.Ident); ok && from.Name == "time" {
				report(node, "time."+node.Sel.Name)
			}
		}
		return true
	})
	return found
}

func TestPackageIsPureAndImportsTheStandardLibraryOnly(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	scanned := 0
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			require.Empty(t, impurities(t, name, nil))
			scanned++
		}
	}
	require.GreaterOrEqual(t, scanned, 8, "the scan found the package's files")
}

func TestScanFindsEachImpurity(t *testing.T) {
	for what, source := range map[string]string{
		"go statement":             "package p; func f() { go f() }",
		"select":                   "package p; func f() { select {} }",
		"chan type":                "package p; var c chan int",
		"time.Now":                 "package p; import \"time\"; var t = time.Now()",
		"import time":              "package p; import \"time\"; var t = time.Now()",
		"import net":               "package p; import _ \"net\"",
		"import example.org/x":     "package p; import _ \"example.org/x\"",
		"sync outside the Guard":   "package p; import _ \"sync\"",
		"atomic outside the Guard": "package p; import _ \"sync/atomic\"",
	} {
		require.Contains(t, strings.Join(impurities(t, "bad.go", source), "\n"), what)
	}
}
