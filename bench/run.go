package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/palisade-go/palisade/bench/floor"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
	"github.com/palisade-go/palisade/bench/report"
	"github.com/palisade-go/palisade/bench/workload"
)

// openMax bounds the opening of a cluster.
const openMax = 2 * time.Minute

// run is one run of the benchmark.
type run struct {
	settings
	screen  io.Writer
	base    string // for the directories of clusters
	results report.Results
}

func newRun(s settings, screen io.Writer) *run { return &run{settings: s, screen: screen} }

func (r *run) say(format string, args ...any) { fmt.Fprintf(r.screen, format+"\n", args...) }

// everything measures all rounds. A workload that fails is noted, and the run
// goes on.
func (r *run) everything(ctx context.Context) error {
	began := time.Now()
	if err := peer.CheckDisk(r.dir); err != nil {
		return err
	}
	// The name is hidden from tools that walk over the source.
	base, err := os.MkdirTemp(r.dir, ".bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	r.base = base
	r.describe(began)
	present := r.present()
	for round := 1; round <= r.rounds; round++ {
		trial := r.trial
		trial.Round = round
		if err := r.floor(ctx, trial); err != nil {
			return err
		}
		for _, p := range present {
			for _, c := range r.clusters(p, round) {
				r.cluster(ctx, p, c, trial)
				if ctx.Err() != nil {
					return fmt.Errorf("stopped: %w", context.Cause(ctx))
				}
			}
		}
	}
	r.results.Took = time.Since(began).Round(time.Second).String()
	r.results.Judge(r.trial.Leases)
	return nil
}

// present returns the peers that are installed, and names the others.
func (r *run) present() []peer.Peer {
	var present []peer.Peer
	r.results.Peers = map[string]string{}
	for _, p := range r.peers {
		if why := p.Missing(); why != "" {
			r.gap(report.Gap{Peer: p.Name(), Why: why})
			continue
		}
		r.results.Peers[p.Name()] = p.Version()
		present = append(present, p)
	}
	if why := member.SyncsMissing(); why != "" {
		r.gap(report.Gap{Peer: "all", Workload: "disk, " + workload.SyncsPerPair.Name, Why: why})
	}
	return present
}

// gap notes something that is not measured, once.
func (r *run) gap(g report.Gap) {
	for _, known := range r.results.Gaps {
		if known == g {
			return
		}
	}
	r.results.Gaps = append(r.results.Gaps, g)
	verb := "skipped"
	if g.Failed {
		verb = "FAILED"
	}
	r.say("%-9s %-12s %s: %s", g.Peer, g.Workload, verb, g.Why)
}

func (r *run) sample(name, peer string, round int, v workload.Values) {
	r.results.Samples = append(r.results.Samples, report.Sample{Workload: name, Peer: peer, Round: round, Values: v})
	r.say("%-9s %-12s round %d: %s", peer, name, round, report.Line(v))
}

// floor measures the machine itself. Without it there is nothing to compare
// with, so a failure ends the run.
func (r *run) floor(ctx context.Context, t workload.Trial) error {
	dir, err := r.directory()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	values, err := floor.Disk(dir, t)
	if err != nil {
		return fmt.Errorf("measure the disk: %w", err)
	}
	trips, err := floor.Loopback(t)
	if err != nil {
		return fmt.Errorf("measure the loopback interface: %w", err)
	}
	for name, value := range trips {
		values[name] = value
	}
	r.sample(floor.Floor, floor.Machine, t.Round, values)
	proposals, err := floor.Proposals(ctx, dir, t)
	if err != nil {
		return fmt.Errorf("measure the engine: %w", err)
	}
	r.sample("own-1", "engine", t.Round, proposals)
	return nil
}

func (r *run) directory() (string, error) { return os.MkdirTemp(r.base, "cluster-") }

// clusterPlan is a cluster to be opened, and what it is put through.
type clusterPlan struct {
	groups    int
	workloads []workload.Workload
}

// clusters says which clusters of a peer a round needs: one of its usual kind,
// one for each other number of groups, and one for each workload that wants to
// be alone.
func (r *run) clusters(p peer.Peer, round int) []clusterPlan {
	var plans []clusterPlan
	byGroups := map[int]int{} // the place in plans
	grouped, hasGroups := p.(peer.Grouped)
	for _, w := range r.workloads {
		groups := w.Groups
		switch {
		case groups != 0 && !hasGroups:
			r.gap(report.Gap{Peer: p.Name(), Workload: w.Name, Why: "it has no groups"})
			continue
		case w.Alone:
			if round == 1 {
				plans = append(plans, clusterPlan{groups, []workload.Workload{w}})
			}
			continue
		case groups != 0 && groups == grouped.DefaultGroups():
			groups = 0
		}
		at, planned := byGroups[groups]
		if !planned {
			at = len(plans)
			byGroups[groups] = at
			plans = append(plans, clusterPlan{groups: groups})
		}
		plans[at].workloads = append(plans[at].workloads, w)
	}
	return plans
}

// cluster opens a cluster and puts it through its workloads. After a failure it
// opens another for the rest of them.
func (r *run) cluster(ctx context.Context, p peer.Peer, plan clusterPlan, t workload.Trial) {
	for len(plan.workloads) > 0 && ctx.Err() == nil {
		done := 0
		err := r.with(ctx, p, plan.groups, func(c peer.Cluster) error {
			t.Cluster = c
			for _, w := range plan.workloads {
				done++
				v, err := w.Measure(ctx, t)
				var unfit *workload.UnfitError
				switch {
				case errors.As(err, &unfit):
					r.gap(report.Gap{Peer: p.Name(), Workload: w.Name, Why: unfit.Why})
				case err != nil:
					return err
				default:
					r.sample(w.Name, p.Name(), t.Round, v)
				}
			}
			return nil
		})
		if err != nil {
			name := ""
			if done > 0 {
				name = plan.workloads[done-1].Name
			}
			r.gap(report.Gap{Peer: p.Name(), Workload: name, Why: err.Error(), Failed: true})
		}
		if done == 0 {
			return // it does not even open
		}
		plan.workloads = plan.workloads[done:]
	}
}

// with opens a cluster of a peer for do, and closes it.
func (r *run) with(ctx context.Context, p peer.Peer, groups int, do func(peer.Cluster) error) error {
	dir, err := r.directory()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	opening, cancel := context.WithTimeout(ctx, openMax)
	defer cancel()
	c, err := p.Open(opening, peer.Setup{Dir: dir, Groups: groups})
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	return errors.Join(do(c), c.Close())
}
