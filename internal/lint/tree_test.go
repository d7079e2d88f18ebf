package lint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	write("token/token.go", "package token\n")
	write("token/testdata/bad.go", "not Go")
	write("README.md", "text")
	write(".ci/run", "#!/usr/bin/env bash\n")
	write(".git/config", "[core]\n")
	write("token/golden.bin", "a\x00b")

	t.Run("FilesComeInOrderWithoutHiddenAndBinaryOnes", func(t *testing.T) {
		tree, err := Read(root)
		require.NoError(t, err)
		var names []string
		for _, f := range tree.Files {
			names = append(names, f.Path)
		}
		require.Equal(t, []string{".ci/run", "README.md", "token/testdata/bad.go", "token/token.go"}, names)
		require.Len(t, tree.GoFiles(), 1)
		require.True(t, tree.HasPath("token/golden.bin"), "a page may link to it")
		require.False(t, tree.HasPath("token/golden"))
	})
	t.Run("SourceThatIsNotGoIsAnErrorThatNamesIt", func(t *testing.T) {
		write("token/bad.go", "not Go")
		_, err := Read(root)
		require.ErrorContains(t, err, "token/bad.go:1:1")
	})
}

func TestImportNames(t *testing.T) {
	tree := source(t, "x.go", "package p\n\nimport (\n\t\"math/rand/v2\"\n\tclk \"time\"\n\t\"example.com/v\"\n)\n")
	var names []string
	for _, imp := range tree.Files[0].Imports() {
		names = append(names, imp.Name)
	}
	require.Equal(t, []string{"rand", "clk", "v"}, names)
}
