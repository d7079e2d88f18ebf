package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// readmeOutput returns what the README says that the program prints.
func readmeOutput(t *testing.T) string {
	t.Helper()
	const begin, end = "<!-- output of examples/quickstart -->\n\n```text\n", "```\n"
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), begin)
	require.True(t, found, "README.md has no block after %q", begin)
	output, _, found := strings.Cut(rest, end)
	require.True(t, found, "README.md does not end its block with %q", end)
	return output
}

func TestStoryIsTheOneInTheREADME(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := run(context.Background(), &out, token.NewGuard().Do)
	require.NoError(t, err, "told so far:\n%s", &out)
	require.Equal(t, readmeOutput(t), out.String())
}

func TestGuardThatAcceptsStaleTokensIsFoundOut(t *testing.T) {
	t.Parallel()
	open := func(_ string, _ token.Token, write func() error) error { return write() }
	var out bytes.Buffer
	err := run(context.Background(), &out, open)
	require.ErrorContains(t, err, "the guard accepted the old token")
	before, _, found := strings.Cut(readmeOutput(t), "   Node 1 wakes up late")
	require.True(t, found)
	require.Equal(t, before, out.String(), "what is told before the fault, and nothing of it")
}

func TestGuardThatRefusesEverybodyIsFoundOut(t *testing.T) {
	t.Parallel()
	closed := func(resource string, given token.Token, _ func() error) error {
		return &token.StaleError{Resource: resource, Given: given, Highest: given + 1}
	}
	var out bytes.Buffer
	err := run(context.Background(), &out, closed)
	require.ErrorIs(t, err, token.ErrStale)
	require.NotContains(t, out.String(), "It wrote the document")
}

func TestContextEndsTheStory(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out bytes.Buffer
	require.ErrorIs(t, run(ctx, &out, token.NewGuard().Do), context.Canceled)
	require.Empty(t, out.String())
}
