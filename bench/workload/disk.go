package workload

import (
	"context"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
)

// disk counts what all members together write and sync for one pair of a single
// worker. Syncs are counted in a run of their own, because tracing slows the
// members down.
func disk() Workload {
	const name = "disk"
	return Workload{
		Name:  name,
		About: "what all members together write and sync for a pair of 1 worker",
		Measure: func(ctx context.Context, t Trial) (Values, error) {
			plan := crew.Plan{Workers: 1, Prefix: t.key(name), For: t.For}
			for _, site := range t.Cluster.Sites() {
				if err := site.Ready(ctx, plan.Workers); err != nil {
					return nil, err
				}
			}
			v := Values{}
			before, err := member.UsageOf(t.Cluster.Processes())
			if err != nil {
				return nil, err
			}
			tally, err := Run(ctx, t.Cluster.Sites(), plan)
			if err != nil {
				return nil, err
			}
			after, err := member.UsageOf(t.Cluster.Processes())
			if err != nil {
				return nil, err
			}
			if tally.Pairs == 0 {
				return nil, errNoPair
			}
			v.set(BytesPerPair, float64(after.Sub(before).Written)/float64(tally.Pairs))
			if member.SyncsMissing() != "" {
				return v, nil // said once, by the run
			}
			syncs, err := member.CountSyncs(t.Cluster.Processes())
			if err != nil {
				return nil, err
			}
			tally, err = Run(ctx, t.Cluster.Sites(), plan)
			counted, stopped := syncs.Stop()
			if err != nil {
				return nil, err
			}
			if stopped != nil {
				return nil, stopped
			}
			if tally.Pairs == 0 {
				return nil, errNoPair
			}
			v.set(SyncsPerPair, float64(counted)/float64(tally.Pairs))
			return v, nil
		},
	}
}
