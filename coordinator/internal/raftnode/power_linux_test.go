package raftnode

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/palisade-go/palisade/coordinator/internal/raftnode/disktest/kerneltest"
	"github.com/palisade-go/palisade/statemachine"
)

var (
	powerSeed = flag.Uint64("power.seed", 0, "seed of the tests that lose power; 0 takes the time")
	powerAll  = flag.Bool("power.all", false, "lose power at every moment that leaves something else, not at a sample")
)

// recordVariable makes the test binary a child that works below a directory,
// and writes down what it does there.
const recordVariable = "RAFTNODE_TEST_RECORD"

// recording is what a child did on its disks, as far as it has been replayed.
type recording struct {
	t       *testing.T
	random  *rand.Rand
	journal []kerneltest.Operation
	image   *kerneltest.Image
	notes   []string // so far
	dir     string   // where images are left
}

// record runs the named test in a child, and returns what it wrote down.
func record(t *testing.T) *recording {
	t.Helper()
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=3m")
	child.Env = append(os.Environ(), recordVariable+"="+dir)
	said, err := child.CombinedOutput()
	require.NoError(t, err, "%s", said)
	f, err := os.Open(filepath.Join(dir, "journal"))
	require.NoError(t, err)
	defer f.Close()
	journal, err := kerneltest.ReadJournal(f)
	require.NoError(t, err)

	seed := *powerSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("%d operations; replay with: go test ./coordinator/internal/raftnode -run '^%s$' -power.seed=%d", len(journal), t.Name(), seed)
	return &recording{
		t: t, random: rand.New(rand.NewPCG(seed, 0)), journal: journal,
		image: kerneltest.NewImage(), dir: t.TempDir(),
	}
}

// recorded returns where a child works, and its watch; nil if this process is
// no child.
func recorded(t *testing.T) (root string, w *kerneltest.Watch) {
	t.Helper()
	dir := os.Getenv(recordVariable)
	if dir == "" {
		return "", nil
	}
	root = filepath.Join(dir, "root")
	require.NoError(t, os.Mkdir(root, 0o700))
	journal, err := os.Create(filepath.Join(dir, "journal"))
	require.NoError(t, err)
	w, err = kerneltest.Start(root, journal, kerneltest.Fault{})
	require.NoError(t, err)
	return root, w
}

// endRecording ends a child whose test has not failed: its watch can't be ended.
func endRecording(t *testing.T) {
	if !t.Failed() {
		os.Exit(0)
	}
}

// moments replays the recording, and calls fn between two operations at those
// moments that leave something else than the one before after a loss of power
// or that follow a note, or at a sample of them. It returns how many they were.
func (r *recording) moments(samples int, fn func()) (seen int) {
	r.t.Helper()
	all := 0
	for _, o := range r.journal {
		if o.Kind == kerneltest.Note || o.Kind == kerneltest.Sync {
			all++
		}
	}
	every := 1
	if !*powerAll {
		every = 1 + all/samples
	}
	turns, n := -1, r.random.IntN(every)
	for i, o := range r.journal {
		require.NoError(r.t, r.image.Apply(o), "operation %d", i)
		if o.Kind == kerneltest.Note {
			r.notes = append(r.notes, o.To)
		}
		if o.Kind != kerneltest.Note && r.image.Turns() == turns {
			continue
		}
		turns = r.image.Turns()
		if n++; n%every == 0 {
			seen++
			fn()
		}
	}
	return seen
}

// leave leaves what a loss of power at this moment may.
func (r *recording) leave(left kerneltest.Left) string {
	r.t.Helper()
	dir := filepath.Join(r.dir, "left")
	require.NoError(r.t, os.RemoveAll(dir))
	require.NoError(r.t, r.image.Leave(dir, left, r.random))
	return dir
}

// powerGroups is how many groups the nodes of these tests have.
const powerGroups = 2

func powerCluster(t *testing.T, n int) *cluster {
	return newCluster(t, n, withGroups(powerGroups), withConfig(func(cfg *Config) { cfg.SnapshotEntries = 6 }))
}

// errand is a workload whose every state is noted.
type errand struct {
	*cluster
	watch *kerneltest.Watch
}

// Notes, with the group and the state's dump.
const (
	sentNote      = "sent to"
	announcedNote = "announced in"
	stateNote     = "state of"
)

// do sends commands of a node, and notes the state of the group before anything
// else is done. Nobody else sends anything meanwhile.
func (e *errand) do(p *peer, group statemachine.GroupID, commands ...statemachine.Command) {
	e.t.Helper()
	e.watch.Note("%s %d", sentNote, group)
	p.send(group, commands...)
	e.state(p, group)
}

func (e *errand) state(p *peer, group statemachine.GroupID) {
	e.t.Helper()
	e.watch.Note("%s %d\n%s", stateNote, group, p.read(group))
}

// run takes, gives back, waits in line and withdraws, in both groups.
func (e *errand) run(p *peer, rounds int) {
	e.t.Helper()
	for round := range rounds {
		group := statemachine.GroupID(1 + round%powerGroups)
		first, second := p.seq+1, p.seq+2
		p.seq += 2
		key := fmt.Sprintf("key %d", round/4)
		acquire := func(seq statemachine.Seq) statemachine.Acquire {
			return statemachine.Acquire{
				Seq: seq, Claims: []statemachine.Claim{{Key: key, Mode: statemachine.Exclusive}}, Wait: true, TTL: time.Hour,
			}
		}
		e.do(p, group, acquire(first))
		e.do(p, group, acquire(second))
		switch round % 4 {
		case 0:
			e.do(p, group, statemachine.Cancel{Seq: second})
		case 1, 2:
			e.do(p, group, statemachine.Release{Seq: first})
			e.do(p, group, statemachine.Release{Seq: second})
		}
	}
}

// swept waits until nothing is left of a node's earlier incarnations.
func (e *errand) swept(p *peer) {
	e.t.Helper()
	for group := statemachine.GroupID(1); group <= powerGroups; group++ {
		e.watch.Note("%s %d", announcedNote, group)
		p.send(group)
		before := fmt.Sprintf(" %d.%d.", p.id, p.incarnation-1)
		deadline := time.Now().Add(patience)
		for strings.Contains(p.read(group), before) {
			require.Less(e.t, time.Now(), deadline, "nobody sweeps")
			p.pause(group)
		}
		e.state(p, group)
	}
}

// appliedIn is what differs between equal states: a new leader's first entry.
var appliedIn = regexp.MustCompile(` (applied|place)=\d+`)

func comparable(dump string) string { return appliedIn.ReplaceAllString(dump, "") }

// states returns the states of a group that may be found at this moment: the
// last one noted, and the next if something was sent since; and the rest of
// the journal knows what that led to. A new incarnation is announced in one entry,
// and what the earlier one left is swept in another.
func (r *recording) states(group statemachine.GroupID) (may []string) {
	r.t.Helper()
	state, sent := fmt.Sprintf("%s %d\n", stateNote, group), fmt.Sprintf("%s %d", sentNote, group)
	announced := fmt.Sprintf("%s %d", announcedNote, group)
	last, open, sweeps := "", false, false
	for _, note := range r.notes {
		if dump, ok := strings.CutPrefix(note, state); ok {
			last, open, sweeps = dump, false, false
		}
		sweeps = sweeps || note == announced
		open = open || note == sent || note == announced
	}
	may = append(may, last)
	if !open {
		return may
	}
	for at, notes := 0, 0; at < len(r.journal); at++ {
		if r.journal[at].Kind != kerneltest.Note {
			continue
		}
		if notes++; notes <= len(r.notes) {
			continue
		}
		if dump, ok := strings.CutPrefix(r.journal[at].To, state); ok {
			if sweeps {
				may = append(may, presence.ReplaceAllString(last, presence.FindString(dump)))
			}
			return append(may, dump)
		}
	}
	return may
}

// presence is the line of the only node.
var presence = regexp.MustCompile(`(?m)^presence .*$`)

// restarted starts nodes on what was left, checks that every acknowledged change
// is there, once, and that they go on.
func (r *recording) restarted(dir string, n int, at string) {
	r.t.Helper()
	c := powerCluster(r.t, n)
	c.dir = dir
	for _, p := range c.peers {
		p.incarnation = 10 // above all recorded
		require.NoError(r.t, p.start(), at)
	}
	for group := statemachine.GroupID(1); group <= powerGroups; group++ {
		may := r.states(group)
		for _, p := range c.peers {
			found := comparable(p.read(group))
			if len(may) == 1 && may[0] == "" {
				continue // nothing was sent yet
			}
			same := false
			for _, state := range may {
				same = same || found == comparable(state) || state == "" && strings.Contains(found, "counter=0")
			}
			require.True(r.t, same, "%s: node %d has\n%s\nwhat was acknowledged is\n%s", at, p.id, found, strings.Join(may, "\nor\n"))
		}
	}
	for _, p := range c.peers {
		p.acquire(1, "after all", time.Hour)
	}
	for _, p := range c.peers {
		p.stop()
	}
	require.NoError(r.t, c.network.Close())
}

// A node on its own loses power at each of many moments, also while it starts
// again. What was acknowledged is there, no batch has taken effect twice, and the
// node works.
func TestPowerLossOfASingleNode(t *testing.T) {
	if root, watch := recorded(t); watch != nil {
		c := powerCluster(t, 1)
		c.dir = root
		p, e := c.peers[1], errand{c, watch}
		require.NoError(t, os.Mkdir(p.dir(), 0o700))
		require.NoError(t, syncDir(root))
		require.NoError(t, p.start())
		e.run(p, 8)
		p.stop()
		require.NoError(t, p.start())
		e.swept(p)
		e.run(p, 6)
		endRecording(t)
		return
	}
	t.Parallel()
	r := record(t)
	lefts := []kerneltest.Left{kerneltest.Synced, kerneltest.First, kerneltest.Scattered}
	seen := r.moments(36, func() {
		for _, left := range lefts {
			if left == kerneltest.Synced || *powerAll || r.random.IntN(len(lefts)) == 0 {
				r.restarted(r.leave(left), 1, fmt.Sprintf("%d notes, %v", len(r.notes), left))
			}
		}
	})
	require.Greater(t, seen, 12)
	t.Logf("power was lost at %d moments", seen)
}
