package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/palisade-go/palisade/bench/peer"
)

// Workload measures one thing of a cluster.
type Workload struct {
	// Name is one word, as the flag -only has it.
	Name string
	// About is the heading of its table.
	About string
	// Groups is over how many Raft groups the cluster spreads its keys.
	// Default: the peer's own number.
	Groups int
	// Alone wants a new cluster for itself, and leaves it in disorder. It is
	// run once, not in each round.
	Alone bool
	// Measure puts the cluster through it. The error is an *UnfitError when the
	// cluster can't do what it takes.
	Measure func(context.Context, Trial) (Values, error)
}

// Trial is one cluster and how it is to be measured.
type Trial struct {
	Cluster peer.Cluster
	// Pairs are counted for the time For, after Warm.
	Warm, For time.Duration
	// Lead is how long workers are at work before a death, and Watch how long
	// they are in all.
	Lead, Watch time.Duration
	// Idle is how long an idle cluster is watched.
	Idle time.Duration
	// Leases and Waiters are how many a loaded cluster has.
	Leases, Waiters int
	// Round makes keys differ from those of other rounds.
	Round int
}

// key returns a name for the keys of a workload.
func (t Trial) key(name string) string { return fmt.Sprintf("%s/%d", name, t.Round) }

// UnfitError says why a cluster can't be measured.
type UnfitError struct{ Why string }

// Error is the reason.
func (e *UnfitError) Error() string { return e.Why }

// All returns the workloads in the order in which they are run.
func All() []Workload {
	return []Workload{
		// First, while no client has a session that it keeps alive.
		idle(0), idle(8), idle(64),
		pairs(ownKeys, 1), pairs(ownKeys, 16), pairs(ownKeys, 256), pairs(ownKeys, 1024),
		pairs(oneKey, 16), pairs(oneKey, 256),
		pairs(manyKeys, 16),
		grouped(1), grouped(8), grouped(64),
		disk(),
		holderDeath(), leaderDeath(),
		renewing(), leases(), waiters(),
	}
}

// Select returns the workloads that a list of names, with commas, asks for: all
// when it is empty. A name that no workload has may be the part of some before
// the hyphen.
func Select(list string) ([]Workload, error) {
	all := All()
	if list == "" {
		return all, nil
	}
	wanted := map[string]bool{}
	for _, name := range strings.Split(list, ",") {
		found := only(all, func(w Workload) bool { return w.Name == name })
		if len(found) == 0 {
			found = only(all, func(w Workload) bool { return w.family() == name })
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("there is no workload %q; there are: %s", name, names(all))
		}
		for _, w := range found {
			wanted[w.Name] = true
		}
	}
	return only(all, func(w Workload) bool { return wanted[w.Name] }), nil
}

func (w Workload) family() string {
	family, _, _ := strings.Cut(w.Name, "-")
	return family
}

func only(list []Workload, keep func(Workload) bool) []Workload {
	return slices.DeleteFunc(slices.Clone(list), func(w Workload) bool { return !keep(w) })
}

func names(list []Workload) string {
	var all []string
	for _, w := range list {
		all = append(all, w.Name)
	}
	return strings.Join(all, " ")
}
