package lint

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRepository applies every rule to this repository.
func TestRepository(t *testing.T) {
	tree, err := Read(filepath.Join("..", ".."))
	require.NoError(t, err)
	require.NotNil(t, tree.Find("internal/lint/lint_test.go"), "the tree is not this repository")
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			for _, finding := range rule.Check(tree) {
				t.Error(finding)
			}
		})
	}
}

func TestEveryRuleIsInThePackageComment(t *testing.T) {
	doc, err := Read(".")
	require.NoError(t, err)
	text := doc.Find("doc.go").Text
	for _, rule := range Rules() {
		require.Contains(t, text, " "+rule.Name+": ")
	}
}

// source makes a tree of pairs of path and text.
func source(t *testing.T, pairs ...string) *Tree {
	t.Helper()
	require.Zero(t, len(pairs)%2)
	tree := &Tree{}
	for i := 0; i < len(pairs); i += 2 {
		f, err := NewFile(pairs[i], pairs[i+1])
		require.NoError(t, err)
		tree.Files = append(tree.Files, f)
	}
	return tree
}

// sample is one small tree and what a rule says about it.
type sample struct {
	name  string
	files []string // pairs of path and text
	want  []string // one finding each, path:line: and the start of the text
}

func runSamples(t *testing.T, check func(*Tree) []Finding, samples []sample) {
	t.Helper()
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			found := check(source(t, s.files...))
			require.Len(t, found, len(s.want), "%v", found)
			for i, want := range s.want {
				require.Contains(t, found[i].String(), want)
			}
		})
	}
}
