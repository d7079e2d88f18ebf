// Package scenariotest runs readable scenarios in the tests of the client
// core.
//
// A scenario is a file of testdata: a paragraph of purpose in lines that
// begin with #, and then blocks. A block is commands, one a line, a line of
// dashes, and the output that they are expected to give, up to an empty line.
// What the commands are is said by the package under test.
//
// With the flag -rewrite the files are written anew from what happens. Read
// the difference line by line, and explain each changed line in the commit
// message.
package scenariotest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write what scenarios give into their files; explain each changed line in the commit message")

// Play carries out one command and returns its output, whole lines.
type Play func(Command) (string, error)

// Run runs every file of testdata, each with a Play of its own.
func Run(t *testing.T, begin func(*testing.T) Play) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(text), "# "), "%s: a scenario begins with its purpose", file)
			got := run(t, file, string(text), begin(t))
			if *rewrite {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got, "%s: -rewrite shows the difference in the file", file)
		})
	}
}

const (
	dashes  = "----"
	nothing = "(nothing)\n"
)

// run returns the text of the scenario with what its blocks gave.
func run(t *testing.T, file, text string, play Play) string {
	var out strings.Builder
	var commands []string
	expected := false
	for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		switch {
		case expected && line == "":
			expected = false
			out.WriteString("\n")
		case expected:
			// Written anew from what happens.
		case line == dashes:
			out.WriteString(dashes + "\n")
			given := ""
			for _, c := range commands {
				command, err := parse(c)
				require.NoError(t, err, "%s:%d: %s", file, n+1, c)
				got, err := play(command)
				require.NoError(t, err, "%s:%d: %s", file, n+1, c)
				require.NoError(t, command.unread(), "%s:%d: %s", file, n+1, c)
				given += got
			}
			if given == "" {
				given = nothing
			}
			out.WriteString(given)
			commands, expected = nil, true
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
