package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/palisade-go/palisade/bench/member"
)

func TestMain(m *testing.M) {
	if status, isMember := member.Serve(roles()); isMember {
		os.Exit(status)
	}
	goleak.VerifyTestMain(m)
}

func TestTheDefaultsAreAllPeersAndWorkloads(t *testing.T) {
	s, err := parse(nil)
	require.NoError(t, err)
	require.Equal(t, []string{"palisade", "etcd", "zookeeper", "redis", "postgres"}, peerNames())
	require.Len(t, s.peers, 5)
	require.NotEmpty(t, s.workloads)
	require.Equal(t, 3, s.rounds)
	require.Equal(t, 3*time.Second, s.trial.For)
	require.Equal(t, 10*time.Second, s.trial.Idle)
	require.Equal(t, 1_000_000, s.trial.Leases)
	require.Equal(t, 100_000, s.trial.Waiters)
	require.Equal(t, "go run .", s.command)
}

func TestPeersAndWorkloadsAreChosen(t *testing.T) {
	s, err := parse([]string{"-peers", "etcd,palisade", "-only", "own-1,one"})
	require.NoError(t, err)
	require.Equal(t, "etcd", s.peers[0].Name())
	require.Equal(t, "palisade", s.peers[1].Name())
	require.Len(t, s.peers, 2)
	require.Len(t, s.workloads, 3)
}

// The command is shown in docs, so it has no path of this machine.
func TestTheCommandHasNoDirectories(t *testing.T) {
	dir := t.TempDir()
	s, err := parse([]string{"-dir", dir, "-for", "1s", "-out", dir, "-page", filepath.Join(dir, "x.md"), "-peers", "all"})
	require.NoError(t, err)
	require.Equal(t, "go run . -for 1s -peers all", s.command)
}

func TestWhatIsWrongWithTheCommandLineIsSaid(t *testing.T) {
	for want, args := range map[string][]string{
		`there is no peer "consul"`:     {"-peers", "palisade,consul"},
		`there is no workload "speed"`:  {"-only", "speed"},
		"must be above zero":            {"-rounds", "0"},
		"-idle, -leases":                {"-leases", "-1"},
		`what is "palisade"`:            {"palisade"},
		"flag provided but not defined": {"-fast"},
	} {
		_, err := parse(args)
		require.ErrorContains(t, err, want, strings.Join(args, " "))
	}
}
