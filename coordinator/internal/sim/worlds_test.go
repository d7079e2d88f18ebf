package sim

import (
	"flag"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	oneSeed   = flag.Int64("seed", 0, "replay this seed of TestWorlds alone")
	without   = flag.String("without", "", "leave these parts of the plan of -seed out: 3,7-9")
	seeds     = flag.Int("seeds", 0, "how many seeds TestWorlds runs; 0: as many as its commands take")
	seedsTime = flag.Duration("time", 0, "how long TestWorlds draws new seeds, instead; 0: until it has its commands")
)

// How many commands TestWorlds has the machines of all replicas apply.
const (
	commandsWanted      = 5_000_000
	commandsWantedShort = 250_000 // with -short, or under the race detector
	worldsWanted        = 60      // at least, so that all faults happen
)

// shrinkTime bounds the search for the least that fails.
const shrinkTime = time.Minute

// TestWorlds runs worlds of new seeds: nodes with the hub, the lock machine and
// the expiry proposer of production, under the faults of the table. The oracle
// says what must hold at every step, peace what must come true in the end.
func TestWorlds(t *testing.T) {
	if *oneSeed != 0 {
		replay(t)
		return
	}
	// Much is allocated and little kept: collecting less often saves a fifth.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	start := time.Now()
	seed := start.UnixNano()
	t.Logf("first seed %d", seed)
	wanted := commandsWanted
	if testing.Short() || raced {
		wanted = commandsWantedShort
	}
	total, commands, logged, n := counts{}, 0, 0, 0
	goOn := func() bool {
		switch {
		case *seeds > 0:
			return n < *seeds
		case *seedsTime > 0:
			return time.Since(start) < *seedsTime
		}
		return commands < wanted || n < worldsWanted
	}
	for ; goOn(); n++ {
		w := newWorld(seed+int64(n), drawSetting(seed+int64(n)), nil)
		if f := w.run(); f != nil {
			t.Logf("world %d", n+1)
			explain(t, f)
		}
		commands, logged = commands+w.commands, logged+w.logged
		total.add(w.count)
	}
	t.Logf("%d worlds: the replicas applied %d commands, of %d in the logs: %v", n, commands, logged, total)
	if *seeds == 0 && *seedsTime == 0 {
		require.GreaterOrEqual(t, commands, wanted)
		requireAll(t, total)
	}
}

// outcomes are what has to happen in a run, besides the faults.
var outcomes = []string{
	"elections", "offices", "offices taken anew", "grants", "turns", "held", "queued", "refused", "withdrawn", "losses",
	"unavailable", "released", "cancelled", "expired", "limit", "swept", "asked again", "given back, too late", "retries",
	"marks reached", "sets held", "rolled back", "left",
}

// requireAll requires that nothing stayed untested.
func requireAll(t *testing.T, count counts) {
	for _, what := range outcomes {
		require.NotZero(t, count[what], "%s: never", what)
	}
	for _, f := range faults {
		require.NotZero(t, count[f.name], "the fault %q never happened", f.name)
	}
}

// keptSeeds are of worlds that once went wrong, with what was wrong.
var keptSeeds = map[string]int64{
	"an install met an apply that was planned, and the replica was not told to go on": 1796058921891399547,
}

func TestKeptSeeds(t *testing.T) {
	for what, seed := range keptSeeds {
		if f := newWorld(seed, drawSetting(seed), nil).run(); f != nil {
			t.Errorf("%s: %v", what, f)
		}
	}
}

// replay runs one seed, and tells all that happens with -v.
func replay(t *testing.T) {
	skipped, err := parseNumbers(*without)
	require.NoError(t, err)
	w := newWorld(*oneSeed, drawSetting(*oneSeed), skipped)
	if testing.Verbose() {
		w.print = func(line string) { t.Log(line) }
		t.Logf("%v\n%v", w.setting, planText(w.plan))
	}
	if f := w.run(); f != nil {
		if *without == "" {
			explain(t, f)
		}
		t.Fatalf("%v\n%v", f, planText(w.plan))
	}
	t.Logf("%d commands, of %d in the logs: %v", w.commands, w.logged, w.count)
}

// explain fails with the least of a world that still goes wrong.
func explain(t *testing.T, f *failure) {
	t.Logf("shrinking: %v", f)
	start := time.Now()
	goOn := func() bool { return time.Since(start) < shrinkTime }
	least, rest := smallest(f, drawSetting(f.seed), goOn, func(*world) {})
	t.Fatalf("%v\nwhat is left of the plan:\n%s", least, planText(rest))
}

func planText(p plan) string {
	var lines []string
	for i, part := range p {
		if i == 80 {
			lines = append(lines, "and more")
			break
		}
		lines = append(lines, "  "+part.String())
	}
	return strings.Join(lines, "\n")
}
