package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// small is a repository with one function and one test.
func small(t *testing.T, faults string) string {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module example.com/small\n\ngo 1.23\n",
		"add/add.go":      "package add\n\nfunc Add(a, b int) int {\n\tif a == 77 {\n\t\treturn b + 77\n\t}\n\treturn a + b\n}\n",
		"add/add_test.go": "package add\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tt.Run(\"Two\", func(t *testing.T) {\n\t\tif got := Add(1, 2); got != 3 {\n\t\t\tt.Errorf(\"got %d\", got)\n\t\t}\n\t})\n}\n",
		"faults/all.txt":  faults,
		".git/config":     "not copied",
	} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return root
}

const smallHead = "\nbreaks: sums\nwhy: wrong\nfile: add/add.go\ntest: ./add\n---\n"

func TestRun(t *testing.T) {
	judge := func(t *testing.T, faults string, words ...string) (string, error) {
		root := small(t, faults)
		before, err := os.ReadFile(filepath.Join(root, "add", "add.go"))
		require.NoError(t, err)
		var out bytes.Buffer
		runErr := run(context.Background(), &out, root, "faults", words, false)
		after, err := os.ReadFile(filepath.Join(root, "add", "add.go"))
		require.NoError(t, err)
		require.Equal(t, before, after, "the repository itself is never changed")
		return out.String(), runErr
	}
	t.Run("NamesTheTestThatCaught", func(t *testing.T) {
		out, err := judge(t, "== subtracts"+smallHead+"\treturn a + b\n+++\n\treturn a - b\n")
		require.NoError(t, err)
		require.Regexp(t, `^caught  subtracts +sums .*add TestAdd/Two: got -1\n`, out)
		require.Contains(t, out, "faults: 1, caught: 1, missed: 0")
	})
	t.Run("FailsWhenAFaultIsNotNoticed", func(t *testing.T) {
		out, err := judge(t, "== seventy-seven"+smallHead+"return b + 77\n+++\nreturn b\n\n== subtracts"+smallHead+"\treturn a + b\n+++\n\treturn a - b\n")
		require.EqualError(t, err, "1 of 2 faults were not caught")
		require.Regexp(t, `(?m)^MISSED  seventy-seven .*no test`, out)
		require.Regexp(t, `(?m)^caught  subtracts`, out, "the first fault is gone again")
	})
	t.Run("ACompilerThatNoticesIsNoTest", func(t *testing.T) {
		out, err := judge(t, "== no-such"+smallHead+"\treturn a + b\n+++\n\treturn a + c\n")
		require.Error(t, err)
		require.Regexp(t, `^MISSED  no-such .*it does not compile: .*\n.*undefined: c`, out)
	})
	t.Run("APanicIsNoticed", func(t *testing.T) {
		out, err := judge(t, "== panics"+smallHead+"\treturn a + b\n+++\n\tpanic(\"broken\")\n")
		require.NoError(t, err)
		require.Regexp(t, `^caught  panics .*TestAdd.*: broken`, out)
	})
	t.Run("RefusesAFaultThatDoesNotStandThere", func(t *testing.T) {
		_, err := judge(t, "== gone"+smallHead+"\treturn a * b\n+++\n\treturn a - b\n")
		require.EqualError(t, err, "fault gone: its text stands 0 times in add/add.go, not once")
	})
	t.Run("TakesThoseThatAreNamed", func(t *testing.T) {
		out, err := judge(t, "== one"+smallHead+"\treturn a + b\n+++\n\treturn a - b\n== two"+smallHead+"\treturn a + b\n+++\n\treturn b - a\n", "two")
		require.NoError(t, err)
		require.NotContains(t, out, "one")
		_, err = judge(t, "== one"+smallHead+"a + b\n+++\na - b\n", "three")
		require.EqualError(t, err, "no fault is named like three")
	})
}

func TestParseFaultsRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"":                                   "no fault in the list",
		"== a\nbreaks: G1\nwhy: w":           "fault a has no change",
		"== a" + smallHead + "x\n+++\nx\n":   "changes nothing",
		"== a\nbreaks: G1\n---\nx\n+++\ny\n": "does not say all of breaks, why, file and test",
		"== a\nguess: G1\n---\nx\n+++\ny\n":  `a line begins with "guess"`,
	} {
		_, err := parseFaults(text)
		require.ErrorContains(t, err, says, text)
	}
}
