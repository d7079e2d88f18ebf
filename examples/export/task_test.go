package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTaskIsOneLineThatANodeReads(t *testing.T) {
	want := task{Month: "2026-11", Fenced: true, TTL: 3 * time.Second, StopAt: 2, UnheardAt: 1}
	line, err := want.line()
	require.NoError(t, err)
	require.NotContains(t, line, "\n")
	text, found := strings.CutPrefix(line, "export ")
	require.True(t, found)
	got, err := parseTask(text)
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = parseTask("2026-11")
	require.ErrorContains(t, err, `not a task: "2026-11"`)
}
