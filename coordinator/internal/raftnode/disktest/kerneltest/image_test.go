package kerneltest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPartsOfWhatWasNotSynced draws what is left of three writes and two names,
// and wants to see everything that can be, and nothing else.
func TestPartsOfWhatWasNotSynced(t *testing.T) {
	m := NewImage()
	apply := func(o Operation) { require.NoError(t, m.Apply(o)) }
	apply(Operation{Kind: Open, Path: "log", File: 7, Flags: syscall.O_CREAT})
	apply(Operation{Kind: Open, Path: ".", File: 8})
	apply(Operation{Kind: Sync, File: 8})
	apply(Operation{Kind: Write, File: 7, Data: []byte("ab")})
	apply(Operation{Kind: Write, File: 7, Offset: 2, Data: []byte("c")})
	apply(Operation{Kind: Symlink, Path: "first", To: "log"})
	apply(Operation{Kind: Rename, Path: "first", To: "second"})

	const seed = 1
	for left, want := range map[Left]struct{ contents, names []string }{
		First:     {[]string{"", "a", "ab", "abc"}, []string{"", "first", "second"}},
		Scattered: {[]string{"", "a", "ab", "abc", "a\x00c", "\x00\x00c", "a\x00", "\x00\x00"}, []string{"", "first", "second"}},
	} {
		random := rand.New(rand.NewPCG(seed, 0))
		contents, names := map[string]bool{}, map[string]bool{}
		for range 500 {
			dir := filepath.Join(t.TempDir(), "left")
			require.NoError(t, m.Leave(dir, left, random))
			content, err := os.ReadFile(filepath.Join(dir, "log"))
			require.NoError(t, err)
			contents[string(content)] = true
			name := ""
			for _, n := range []string{"first", "second"} {
				if _, err := os.Lstat(filepath.Join(dir, n)); err == nil {
					require.Empty(t, name, "a rename in two steps")
					name = n
				}
			}
			names[name] = true
		}
		require.ElementsMatch(t, want.contents, keys(contents), "%v", left)
		require.ElementsMatch(t, want.names, keys(names), "%v", left)
	}
}

func keys(set map[string]bool) (all []string) {
	for k := range set {
		all = append(all, k)
	}
	return all
}

func TestARenameAcrossDirectoriesIsRefused(t *testing.T) {
	m := NewImage()
	require.NoError(t, m.Apply(Operation{Kind: Mkdir, Path: "a"}))
	require.NoError(t, m.Apply(Operation{Kind: Open, Path: "a/b", File: 7, Flags: syscall.O_CREAT}))
	require.ErrorContains(t, m.Apply(Operation{Kind: Rename, Path: "a/b", To: "b"}), "not modelled")
	require.ErrorIs(t, m.Apply(Operation{Kind: Rename, Path: "a/c", To: "a/d"}), syscall.ENOENT)
}
