package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/report"
	"github.com/palisade-go/palisade/bench/workload"
)

// diskDir returns an empty directory on a disk: that of the source when there is
// none for temporary files.
func diskDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if peer.CheckDisk(dir) == nil {
		return dir
	}
	dir, err := os.MkdirTemp(".", ".bench-test-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// The whole program with this library alone: three nodes and the bare engine in
// processes of their own, for moments.
func TestTheWholeWithThisLibraryAlone(t *testing.T) {
	dir := diskDir(t)
	out, page := t.TempDir(), filepath.Join(t.TempDir(), "numbers.md")
	require.NoError(t, os.WriteFile(page, []byte("# Numbers\n\n"+report.PageBegin+"\n"+report.PageEnd+"\n"), 0o644))
	err := bench(context.Background(), []string{
		"-peers", "palisade", "-only", "idle,own-1,own-16,one-16,many,leases,waiters", "-rounds", "1",
		"-for", "300ms", "-warm", "50ms", "-idle", "100ms", "-leases", "300", "-waiters", "3000",
		"-dir", dir, "-out", out, "-page", page,
	})
	require.NoError(t, err)

	var results report.Results
	text, err := os.ReadFile(filepath.Join(out, "results.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &results))
	for _, c := range []struct {
		workload, peer string
		metric         workload.Metric
	}{
		{"floor", "machine", workload.SyncP50},
		{"floor", "machine", workload.RoundTripP50},
		{"own-1", "engine", workload.AcquireP50},
		{"own-1", "engine", workload.ProposalsPerSecond},
		{"own-1", "palisade", workload.AcquireP50},
		{"own-1", "palisade", workload.ReleaseP50},
		{"own-16", "palisade", workload.PairsPerSecond},
		{"one-16", "palisade", workload.PairsPerSecond},
		{"one-16", "palisade", workload.MostTurns},
		{"many-16", "palisade", workload.PairsPerSecond},
		{"leases", "palisade", workload.StartUp},
		{"leases", "palisade", workload.LeasesFound},
		{"waiters", "palisade", workload.StacksWaiterNode},
	} {
		s := results.Spread(c.workload, c.peer, c.metric.Name)
		require.Equal(t, 1, s.Rounds, "%s of %s, %s", c.metric.Name, c.peer, c.workload)
		require.Positive(t, s.Median, "%s of %s, %s", c.metric.Name, c.peer, c.workload)
	}
	require.Equal(t, 1, results.Spread("idle", "palisade", workload.CPU.Name).Rounds)
	require.Zero(t, results.Spread("own-1", "engine", workload.PairsPerSecond.Name).Rounds, "a release does nothing there")
	require.False(t, results.Failed())
	require.NotEmpty(t, results.Verdicts)
	require.NotZero(t, results.Machine.Cores)
	require.NotZero(t, results.Machine.MemoryBytes)
	require.NotEmpty(t, results.Machine.Kernel)
	require.NotEmpty(t, results.Machine.FileSystem)

	shown, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(shown), "| acquire p50, ms")
	require.Contains(t, string(shown), "](numbers/own.svg)")
	require.NotContains(t, string(shown), dir, "docs have no path of this machine")
	for _, c := range report.Charts {
		if strings.Contains(string(shown), c.File) {
			require.FileExists(t, filepath.Join(filepath.Dir(page), "numbers", c.File))
		}
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "no directory stays")
}
