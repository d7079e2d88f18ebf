package keeper

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allowed is all that this package imports. That there is no clock, goroutine,
// channel or lock in it is a rule of internal/lint.
var allowed = map[string]bool{
	"cmp":            true,
	"container/heap": true,
	"math":           true,
	"slices":         true,
	"time":           true, // durations only
	"github.com/palisade-go/palisade/coordinator/internal/clock": true, // Instant only
	"github.com/palisade-go/palisade/statemachine":               true,
}

func TestImportsAreThoseThatAreAllowed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	unused := make(map[string]bool)
	for path := range allowed {
		unused[path] = true
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			require.True(t, allowed[path], "%s imports %s", name, path)
			delete(unused, path)
		}
	}
	require.Empty(t, unused, "allowed but not imported")
}
