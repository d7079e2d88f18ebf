package explore

import (
	"flag"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	deep  = flag.Duration("deep", 0, "search the larger worlds too, each for so long at most")
	world = flag.String("world", "", "the world that -path is a path of")
	way   = flag.String("path", "", "tell what happens on this path, as a search printed it")
)

// impossible are the notes that no world may come across: with clocks that keep the
// promise an owner knows of its loss by its own clock before anything tells
// it, and a hub knows of all that the log has for it.
var impossible = []Note{LostByEvent, LostByState, Disowned}

func TestWorlds(t *testing.T) {
	for _, cfg := range Worlds {
		t.Run(cfg.Name, func(t *testing.T) {
			r := Search(cfg, func(int) bool { return false })
			tell(t, cfg, r)
			require.True(t, r.Complete)
			requireMet(t, cfg, r)
		})
	}
}

func TestDeepWorlds(t *testing.T) {
	if *deep == 0 {
		t.Skip("takes long; asked for with -deep")
	}
	for _, cfg := range DeepWorlds {
		t.Run(cfg.Name, func(t *testing.T) {
			end := time.Now().Add(*deep)
			r := Search(cfg, func(states int) bool { return states%1024 == 0 && time.Now().After(end) })
			tell(t, cfg, r)
			if !r.Complete {
				t.Logf("not searched whole: nothing is broken up to %d steps from the first state", r.Depth)
				return
			}
			requireMet(t, cfg, r)
		})
	}
}

// tell prints what a search saw, and fails if a guarantee does not hold.
func tell(t *testing.T, cfg Config, r Result) {
	t.Helper()
	t.Logf("%d states, %d transitions, %d deep; %d machines, %d lives, %d offices; brought to rest: %d states, in %d units at most",
		r.States, r.Transitions, r.Depth, r.Machines, r.Lives, r.Offices, r.Rested, r.Slowest)
	var met []string
	for n, times := range r.Met {
		if times > 0 {
			met = append(met, Note(n).String()+" "+strconv.Itoa(times))
		}
	}
	t.Log("met: " + strings.Join(met, ", "))
	if r.Broken == "" {
		return
	}
	var choices []string
	for _, c := range r.Path {
		choices = append(choices, strconv.Itoa(c))
	}
	story, broken := Replay(cfg, r.Path)
	require.Equal(t, r.Broken, broken, "the replay differs:\n%s", story)
	require.Fail(t, broken, "%d steps:\n%sreplay with: go test ./coordinator/internal/explore -run Path -v -world %s -path %s",
		len(r.Path), story, cfg.Name, strings.Join(choices, "."))
}

func requireMet(t *testing.T, cfg Config, r Result) {
	t.Helper()
	for _, n := range cfg.Meets {
		require.NotZero(t, r.Met[n], "%s: never", n)
	}
	for _, n := range impossible {
		require.Zero(t, r.Met[n], "%s", n)
	}
}

// TestPath tells what happens on a path that a search printed.
func TestPath(t *testing.T) {
	if *way == "" {
		t.Skip("there is no -path")
	}
	all := slices.Concat(Worlds, DeepWorlds)
	i := slices.IndexFunc(all, func(cfg Config) bool { return cfg.Name == *world })
	require.GreaterOrEqual(t, i, 0, "there is no world %q", *world)
	var path []int
	for _, choice := range strings.Split(*way, ".") {
		n, err := strconv.Atoi(choice)
		require.NoError(t, err)
		path = append(path, n)
	}
	story, broken := Replay(all[i], path)
	t.Log("\n" + story)
	require.Empty(t, broken)
}

// TestAPathIsReplayed: a search that finds a fault gives a path that leads
// there again. The fault is one of this world: a limit of 3 units has no
// quarter, so a holder renews all the time, and nothing comes to rest.
func TestAPathIsReplayed(t *testing.T) {
	cfg := Config{
		T: 4, Batches: [nodeCount]int{3, 1}, Lag: 1, HealEvery: 1,
		Asks: [nodeCount][]Ask{{{Keys: "a", Limit: 3}}, nil},
	}
	r := Search(cfg, func(int) bool { return false })
	require.False(t, r.Complete)
	require.Contains(t, r.Broken, "does not come to rest: 1000 steps")
	require.NotEmpty(t, r.Path)
	story, broken := Replay(cfg, r.Path)
	require.Equal(t, r.Broken, broken)
	require.Contains(t, story, "  1. at   0: node 1: caller 1 asks for a\n")
}
