package torture

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/palisade-go/palisade/coordinator/locktest/history"
)

// tally counts what happened in a run. It is safe for concurrent use.
type tally struct {
	events io.Writer
	began  time.Time

	mu          sync.Mutex
	operations  map[string]int
	faults      map[kind]int
	unfelt      int // faults of which nobody noticed anything
	notRun      map[kind]string
	samples     map[*process]Sample
	highest     []uint64 // terms by group
	usages      map[int][]usage
	incarnation map[int]int
	fullDisk    int // processes that ended because of it

	slowest     time.Duration
	slowestWhat string
	slowestTurn Turnabout

	generations   int
	records       int
	longestSearch time.Duration
}

func newTally(events io.Writer) *tally {
	return &tally{
		events: events, began: time.Now(), operations: map[string]int{}, faults: map[kind]int{}, notRun: map[kind]string{},
		samples: map[*process]Sample{}, usages: map[int][]usage{}, incarnation: map[int]int{},
	}
}

// event writes a line with the time since the beginning.
func (t *tally) event(format string, args ...any) {
	_, _ = fmt.Fprintf(t.events, "%s %7.1fs %s\n",
		time.Now().UTC().Format("15:04:05.000"), time.Since(t.began).Seconds(), fmt.Sprintf(format, args...))
}

// fault counts one, if it had an effect.
func (t *tally) fault(k kind, felt bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if felt {
		t.faults[k]++
	} else {
		t.unfelt++
	}
}

// count returns how often a sort of fault has been begun, healed and seen.
func (t *tally) count(k kind) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.faults[k]
}

// skip names a sort of fault that can't be run here.
func (t *tally) skip(k kind, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notRun[k] = why
}

func (t *tally) endedByDisk() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fullDisk++
}

// saw takes the sample of a process.
func (t *tally) saw(p *process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sawLocked(p)
}

func (t *tally) sawLocked(p *process) {
	if _, known := t.samples[p]; !known {
		t.incarnation[p.number]++
	}
	t.samples[p] = p.sample
	for len(t.highest) < len(p.sample.Terms) {
		t.highest = append(t.highest, 0)
	}
	for i, term := range p.sample.Terms {
		t.highest[i] = max(t.highest[i], term)
	}
}

// ended takes the last sample of a process, and forgets the process.
func (t *tally) ended(p *process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sawLocked(p)
	t.samples[nil] = t.samples[nil].plus(p.sample)
	delete(t.samples, p)
}

// plus adds the counters of two samples.
func (s Sample) plus(o Sample) Sample {
	for _, c := range []struct{ sum, more *uint64 }{
		{&s.Batches, &o.Batches}, {&s.Retries, &o.Retries}, {&s.RenewFailures, &o.RenewFailures},
		{&s.LostWindow, &o.LostWindow}, {&s.LostLimit, &o.LostLimit}, {&s.LostGroup, &o.LostGroup}, {&s.Expiries, &o.Expiries},
		{&s.ExpiriesProposed, &o.ExpiriesProposed}, {&s.Sweeps, &o.Sweeps},
		{&s.SnapshotsMade, &o.SnapshotsMade}, {&s.SnapshotsTaken, &o.SnapshotsTaken},
		{&s.Acquired, &o.Acquired}, {&s.Busy, &o.Busy}, {&s.Timeouts, &o.Timeouts}, {&s.Cancelled, &o.Cancelled},
		{&s.Unavailable, &o.Unavailable}, {&s.Other, &o.Other},
	} {
		*c.sum += *c.more
	}
	return s
}

// terms returns the sum of all groups' terms: it rises with each election.
func (t *tally) terms() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.termsLocked()
}

func (t *tally) termsLocked() uint64 {
	sum := uint64(0)
	for _, term := range t.highest {
		sum += term
	}
	return sum
}

// healed takes how long it took until everybody had owned a key of every group.
func (t *tally) healed(took time.Duration, turn Turnabout, after []kind) {
	t.event("everybody goes on, %.1fs after healing; longest wait %.1fs, for group %d on node %d",
		took.Seconds(), turn.Took.Seconds(), turn.Group, turn.Node)
	t.mu.Lock()
	defer t.mu.Unlock()
	if took > t.slowest {
		t.slowest, t.slowestTurn, t.slowestWhat = took, turn, fmt.Sprint(after)
	}
}

// checked takes the history of a generation that kept the contract.
func (t *tally) checked(records []history.Record, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.generations++
	t.records += len(records)
	t.longestSearch = max(t.longestSearch, took)
	for _, r := range records {
		what := string(r.Kind)
		if len(r.Keys) > 1 {
			what += " of several keys"
		}
		t.operations[fmt.Sprintf("%s: %s", what, r.Outcome)]++
	}
}

// used takes what the process of a node uses.
func (t *tally) used(node int, u usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usages[node] = append(t.usages[node], u)
}

// line tells in a line how the run stands.
func (t *tally) line(r *Register) string {
	writes, stale := r.counts()
	t.mu.Lock()
	defer t.mu.Unlock()
	faults := 0
	for _, n := range t.faults {
		faults += n
	}
	b := fmt.Sprintf("after %v: %d operations in %d generations, %d writes, %d of them stale, %d faults, %d elections, %.1fs to go on at the latest",
		time.Since(t.began).Round(time.Second), t.records, t.generations, writes, stale, faults, t.termsLocked(), t.slowest.Seconds())
	for _, node := range slices.Sorted(maps.Keys(t.usages)) {
		b += fmt.Sprintf("; node %d: %v", node, t.usages[node][len(t.usages[node])-1])
	}
	return b
}

// report tells the run.
func (t *tally) report(r *Register, seed uint64, s settings) string {
	writes, stale := r.counts()
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.samples[nil]
	for p, sample := range t.samples {
		if p != nil {
			all = all.plus(sample)
		}
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("%d nodes, %d groups, %d workers a node, T %v, E %v, over TCP with TLS; %v, seed %d",
		s.Nodes, s.Groups, s.Workers, s.TTL, s.Election, time.Since(t.began).Round(time.Second), seed)
	say("history    %d operations in %d generations kept the contract; longest check %v",
		t.records, t.generations, t.longestSearch.Round(time.Millisecond))
	for _, what := range slices.Sorted(maps.Keys(t.operations)) {
		say("           %8d %s", t.operations[what], what)
	}
	say("register   %d writes, %d of them stale and refused", writes, stale)
	say("progress   at the latest %.1f s after healing, after %s; then the longest wait was %.1f s, for group %d on node %d",
		t.slowest.Seconds(), t.slowestWhat, t.slowestTurn.Took.Seconds(), t.slowestTurn.Group, t.slowestTurn.Node)
	say("faults")
	for _, k := range slices.Sorted(maps.Keys(t.faults)) {
		say("           %8d %s", t.faults[k], k)
	}
	for _, k := range slices.Sorted(maps.Keys(t.notRun)) {
		say("           not run: %s: %s", k, t.notRun[k])
	}
	if t.unfelt > 0 {
		say("           %8d of which nobody noticed anything, not counted above", t.unfelt)
	}
	if t.fullDisk > 0 {
		say("           %8d processes ended by a disk without any space", t.fullDisk)
	}
	say("elections  %d; starts of nodes %v", t.termsLocked(), t.incarnation)
	say("losses     %d by the window, %d by max hold, %d by the group; %d leases expired although the process lived",
		all.LostWindow, all.LostLimit, all.LostGroup, all.Expiries)
	say("acquires   %d granted, %d busy, %d timed out, %d cancelled, %d unavailable, %d other",
		all.Acquired, all.Busy, all.Timeouts, all.Cancelled, all.Unavailable, all.Other)
	say("log        %d batches, %d retries, %d times renewing failed; %d expiries and %d sweeps proposed; %d snapshots made, %d installed",
		all.Batches, all.Retries, all.RenewFailures, all.ExpiriesProposed, all.Sweeps, all.SnapshotsMade, all.SnapshotsTaken)
	for _, node := range slices.Sorted(maps.Keys(t.usages)) {
		all := t.usages[node]
		first, last, peak := all[0], all[len(all)-1], usage{}
		for _, u := range all {
			peak = peak.max(u)
		}
		say("node %d     at the start: %v", node, first)
		say("           at the end:   %v", last)
		say("           at most:      %v", peak)
	}
	return b.String()
}
