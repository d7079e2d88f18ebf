package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Module is the path of this repository's module.
const Module = "github.com/palisade-go/palisade"

// File is one text file of the repository.
type File struct {
	// Path is relative to the root of the repository, with slashes.
	Path string
	Text string
	// Syntax is nil unless the file is Go source.
	Syntax *ast.File

	positions *token.FileSet
}

// Tree is the text files of a repository in the order of their paths.
type Tree struct {
	Files []*File
	// Binary are the paths of the files that are no text: those with a zero byte.
	Binary []string
}

// NewFile makes a file of the repository from its path and text. It fails when
// the name ends in .go, the text is not Go, and it is no test data.
func NewFile(name, text string) (*File, error) {
	f := &File{Path: name, Text: text, positions: token.NewFileSet()}
	if !strings.HasSuffix(name, ".go") || strings.Contains("/"+name, "/testdata/") {
		return f, nil
	}
	syntax, err := parser.ParseFile(f.positions, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("lint: %w", err)
	}
	f.Syntax = syntax
	return f, nil
}

// Read makes a Tree of the files under root. It leaves out directories whose name
// begins with a dot, except .ci.
func Read(root string) (*Tree, error) {
	t := &Tree{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			hidden := strings.HasPrefix(entry.Name(), ".") && name != root && entry.Name() != ".ci"
			if hidden {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if strings.IndexByte(string(text), 0) >= 0 {
			t.Binary = append(t.Binary, filepath.ToSlash(rel))
			return nil
		}
		f, err := NewFile(filepath.ToSlash(rel), string(text))
		if err != nil {
			return err
		}
		t.Files = append(t.Files, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	sort.Slice(t.Files, func(i, j int) bool { return t.Files[i].Path < t.Files[j].Path })
	return t, nil
}

// Dir is the directory of the file, relative to the root; "." is the root.
func (f *File) Dir() string { return path.Dir(f.Path) }

// IsTest says whether only `go test` compiles the file.
func (f *File) IsTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Line is the line of a position in the file, from 1.
func (f *File) Line(p token.Pos) int { return f.positions.Position(p).Line }

// Import is one import of a file.
type Import struct {
	Path string
	// Name is what the file calls the package: the name given in the import,
	// otherwise the last element of the path that is not a version.
	Name string
	Line int
}

// Imports lists the imports of the file; none when it is not Go.
func (f *File) Imports() []Import {
	if f.Syntax == nil {
		return nil
	}
	var list []Import
	for _, spec := range f.Syntax.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has accepted the literal
		}
		imp := Import{Path: target, Name: lastName(target), Line: f.Line(spec.Pos())}
		if spec.Name != nil {
			imp.Name = spec.Name.Name
		}
		list = append(list, imp)
	}
	return list
}

// lastName guesses a package's name from its path as the go command's
// conventions have it: github.com/x/msgpack/v5 is msgpack.
func lastName(target string) string {
	base := path.Base(target)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(target))
	}
	return base
}

// GoFiles lists the Go files of the tree.
func (t *Tree) GoFiles() []*File {
	var list []*File
	for _, f := range t.Files {
		if f.Syntax != nil {
			list = append(list, f)
		}
	}
	return list
}

// Packages maps each directory that has Go files to them.
func (t *Tree) Packages() map[string][]*File {
	m := make(map[string][]*File)
	for _, f := range t.GoFiles() {
		m[f.Dir()] = append(m[f.Dir()], f)
	}
	return m
}

// Find returns the file with that path, or nil.
func (t *Tree) Find(name string) *File {
	for _, f := range t.Files {
		if f.Path == name {
			return f
		}
	}
	return nil
}

// HasPath says whether a file or directory of that path is in the tree.
func (t *Tree) HasPath(name string) bool {
	if name == "." || slices.Contains(t.Binary, name) {
		return true
	}
	for _, f := range t.Files {
		if f.Path == name || strings.HasPrefix(f.Path, name+"/") {
			return true
		}
	}
	return false
}

// InNestedModule says whether the file belongs to a module of its own below
// the root, as tools and bench do.
func (t *Tree) InNestedModule(f *File) bool {
	for dir := f.Dir(); dir != "."; dir = path.Dir(dir) {
		if t.Find(dir+"/go.mod") != nil {
			return true
		}
	}
	return false
}

// under says whether a slash-separated path is base or below it.
func under(name, base string) bool {
	return name == base || strings.HasPrefix(name, base+"/")
}

// underAny says whether a path is one of bases or below one of them.
func underAny(name string, bases []string) bool {
	for _, base := range bases {
		if under(name, base) {
			return true
		}
	}
	return false
}
