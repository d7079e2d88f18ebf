package statemachine

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write what scenarios give into their files; explain each changed line in the commit message")

// TestScenarios runs the files of testdata. A file is a paragraph of purpose
// and then blocks: commands, a line of dashes, and the expected events. What
// the commands are is said by the director's methods.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := runScenario(t, file, string(text))
			if *rewrite {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got, "%s: go test -run %s -rewrite shows the difference", file, t.Name())
		})
	}
}

// runScenario returns the text of the scenario with what its blocks gave.
func runScenario(t *testing.T, file, text string) string {
	const dashes = "----"
	var out strings.Builder
	d := newDirector(t)
	var commands []string
	inExpected := false
	for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case inExpected && line == "":
			inExpected = false
			out.WriteString("\n")
		case inExpected:
			// Written anew from what happens.
		case line == dashes:
			out.WriteString(dashes + "\n")
			for _, c := range commands {
				got, err := d.run(c)
				require.NoError(t, err, "%s:%d: %s", file, n+1, c)
				out.WriteString(got)
				require.NoError(t, d.m.Check(), "%s:%d: %s", file, n+1, c)
			}
			commands = nil
			inExpected = true
		default:
			out.WriteString(line + "\n")
			if line != "" && !strings.HasPrefix(line, "#") {
				commands = append(commands, line)
			}
		}
	}
	require.Empty(t, commands, "%s: commands without a line of dashes", file)
	return out.String()
}
