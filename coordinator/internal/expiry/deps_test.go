package expiry

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allowed are the imports of this package, each for a reason that keeps it
// pure: data structures, arithmetic, and the nouns it decides about.
var allowed = map[string]bool{
	"container/heap": true,
	"math":           true,
	"time":           true, // durations only; see the scan for time.Now
	"github.com/palisade-go/palisade/coordinator/internal/clock": true, // Instant only
	"github.com/palisade-go/palisade/statemachine":               true,
}

// clockCalls are what reads a clock or waits.
var clockCalls = map[string]bool{
	"Now": true, "Since": true, "Until": true, "After": true, "AfterFunc": true,
	"NewTimer": true, "NewTicker": true, "Tick": true, "Sleep": true,
}

func TestPackageIsPure(t *testing.T) {
	files := token.NewFileSet()
	packages, err := parser.ParseDir(files, ".", func(info fs.FileInfo) bool {
		return !strings.HasSuffix(info.Name(), "_test.go")
	}, 0)
	require.NoError(t, err)
	require.Len(t, packages, 1)
	unused := make(map[string]bool)
	for path := range allowed {
		unused[path] = true
	}
	for _, file := range packages["expiry"].Files {
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			require.True(t, allowed[path], "%s imports %s", files.Position(spec.Pos()), path)
			delete(unused, path)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			at := "nowhere"
			if node != nil {
				at = files.Position(node.Pos()).String()
			}
			switch node := node.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
				t.Errorf("%s: %T in a pure package", at, node)
			case *ast.SelectorExpr:
				if pkg, ok := node.X.(*ast.Ident); ok && (pkg.Name == "time" || pkg.Name == "clock") && clockCalls[node.Sel.Name] {
					t.Errorf("%s: %s.%s in a pure package", at, pkg.Name, node.Sel.Name)
				}
			}
			return true
		})
	}
	require.Empty(t, unused, "allowed but not imported")
}
