package coordinator_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// parsed is one Go file and its syntax.
type parsed struct {
	text string
	file *ast.File
	set  *token.FileSet
}

func parse(t *testing.T, name, text string) parsed {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments)
	require.NoError(t, err)
	return parsed{text, file, set}
}

// body returns what stands between the braces of a function, without its
// expected output.
func (s parsed) body(t *testing.T, function string) string {
	t.Helper()
	for _, decl := range s.file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == function {
			inside := s.text[s.set.Position(f.Body.Lbrace).Offset+1 : s.set.Position(f.Body.Rbrace).Offset]
			inside, _, _ = strings.Cut(inside, "\t// Output:")
			return inside
		}
	}
	require.FailNow(t, "there is no such function", function)
	return ""
}

func (s parsed) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		paths = append(paths, spec.Path.Value)
	}
	return paths
}

func readReadme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	return string(text)
}

// The program of the README is the Example, which runs with the other tests.
func TestProgramOfTheREADMEIsTheExample(t *testing.T) {
	_, rest, found := strings.Cut(readReadme(t), "```go\n")
	require.True(t, found, "README.md has no Go program")
	block, _, found := strings.Cut(rest, "```\n")
	require.True(t, found, "the Go program of README.md does not end")
	program := parse(t, "README.md", block)
	text, err := os.ReadFile("example_readme_test.go")
	require.NoError(t, err)
	example := parse(t, "example_readme_test.go", string(text))

	require.Equal(t, "main", program.file.Name.Name)
	require.Equal(t, example.imports(), program.imports())
	require.Equal(t, example.body(t, "Example"), program.body(t, "main"))
}

// What the README claims, it names a test for; the tests are there.
func TestTestsThatTheREADMENamesAreThere(t *testing.T) {
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(readReadme(t), -1)
	require.NotEmpty(t, named)
	var tests strings.Builder
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	})
	require.NoError(t, err)
	for _, name := range named {
		require.Contains(t, tests.String(), "\nfunc "+name[1]+"(t *testing.T)")
	}
}
