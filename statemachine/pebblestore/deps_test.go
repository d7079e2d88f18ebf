package pebblestore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The store knows nothing of what records mean: of the module it takes the type
// Record, and how the engine's errors are told apart; of others the engine.
func TestImportsAreThoseOfTheDesign(t *testing.T) {
	const (
		module = "github.com/palisade-go/palisade/"
		engine = "github.com/cockroachdb/pebble/v2"
	)
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	files := 0
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			standard := !strings.Contains(path, ".")
			ours := path == module+"statemachine" || path == module+"internal/pebbledb"
			require.True(t, standard || ours || path == engine || strings.HasPrefix(path, engine+"/vfs"), "%s imports %s", name, path)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if selector, ok := node.(*ast.SelectorExpr); ok {
				if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "statemachine" {
					require.Equal(t, "Record", selector.Sel.Name, "%s uses more than the type Record", name)
				}
			}
			return true
		})
	}
	require.Greater(t, files, 10)
}
