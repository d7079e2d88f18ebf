package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// readmeOutput returns what the README says that the program prints.
func readmeOutput(t *testing.T) string {
	t.Helper()
	const begin, end = "<!-- output of examples/export -->\n\n```text\n", "```\n"
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), begin)
	require.True(t, found, "README.md has no block after %q", begin)
	output, _, found := strings.Cut(rest, end)
	require.True(t, found, "README.md does not end its block with %q", end)
	return output
}

func TestStoryIsTheOneInTheREADME(t *testing.T) {
	t.Parallel()
	p := startProgram(t, func(*exec.Cmd) {})
	output, status := p.wait()
	require.Zero(t, status, "told so far:\n%s\n%s", output, &p.errs)
	require.Equal(t, readmeOutput(t), output)
	require.Empty(t, p.errs.String())
	p.requireNoProcess()
	p.requireNoFile()
}

// A guard that does not do its work, and one that does where none should be, are
// found out, and nothing is said that is not so.
func TestGuardThatIsNotAsTheStorySaysIsFoundOut(t *testing.T) {
	on := chapters[1]
	require.True(t, on.task.Fenced)
	for _, c := range []struct {
		statement, lens string
		tell            func(*story, context.Context, task) error
		found, untold   string
	}{
		{"OneThatGuardsLosesNoOrder", "1", (*story).overwrite,
			`node 2 should say "wrote", but it says: repeated 1 1 1`, "wrote the pages of all"},
		{"OneThatAcceptsStaleTokens", "gullible", (*story).refuse,
			`the late write should be refused: node 1 should say "refused", but it says: wrote 3 4 1`, "The guard refuses it"},
		{"OneThatRemembersNoOperations", "forgetful", (*story).repeat,
			`node 3 should say "repeated", but it says: wrote 1 3 `, "by their operation ids"},
	} {
		t.Run(c.statement, func(t *testing.T) {
			t.Setenv(programVariable, c.lens)
			var out bytes.Buffer
			err := tellAll(context.Background(), &out, []chapter{{"", c.tell, on.task}})
			require.ErrorContains(t, err, c.found)
			require.NotContains(t, out.String(), c.untold)
		})
	}
}

// However the story ends, its nodes end too. A paused one can do nothing about
// it by itself.
func TestNoNodeOutlivesTheStory(t *testing.T) {
	const running, paused = "2. The fence is on", "Before it writes that one, it is stopped"
	// As in a terminal: the story and its nodes are a session, and who takes
	// the nodes over when the story is gone is not part of it.
	session := func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
	for statement, at := range map[string]string{
		"KilledWhileAllRun": running, "KilledWhileOneIsPaused": paused,
	} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			p := startProgram(t, session)
			p.readUntil(at)
			require.NoError(t, p.cmd.Process.Kill())
			p.requireNoProcess()
			_, status := p.wait()
			require.Equal(t, -1, status, "ended by a signal")
		})
	}
	for statement, at := range map[string]string{
		"InterruptedWhileAllRun": running, "InterruptedWhileOneIsPaused": paused,
	} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			p := startProgram(t, session)
			p.readUntil(at)
			require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
			p.requireNoProcess()
			_, status := p.wait()
			require.Equal(t, 1, status)
			require.Contains(t, p.errs.String(), "context canceled")
			p.requireNoFile()
		})
	}
}
