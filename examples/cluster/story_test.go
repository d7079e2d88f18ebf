package main

import (
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
	const begin, end = "<!-- output of examples/cluster -->\n\n```text\n", "```\n"
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

// However the story ends, its nodes end too. A paused one can do nothing about
// it by itself.
func TestNoNodeOutlivesTheStory(t *testing.T) {
	const owned, paused = "Node 1 owns", "Node 2 is paused"
	// As in a terminal: the story and its nodes are a session, and who takes
	// the nodes over when the story is gone is not part of it.
	session := func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
	for statement, at := range map[string]string{
		"KilledWhileAllRun": owned, "KilledWhileOneIsPaused": paused,
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
		"InterruptedWhileAllRun": owned, "InterruptedWhileOneIsPaused": paused,
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
