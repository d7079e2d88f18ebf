package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/peer"
)

// keysOf is which keys the workers of a workload take.
type keysOf struct {
	name, about string
	keys        crew.Keys
}

var (
	ownKeys  = keysOf{"own", "on keys of their own", crew.Own}
	oneKey   = keysOf{"one", "on one key", crew.One}
	manyKeys = keysOf{"many", "on 16 keys of their own at once", crew.Many}
)

// pairs is acquire and confirmed release, again and again, by workers that are
// spread evenly over the sites.
func pairs(k keysOf, workers int) Workload {
	name := fmt.Sprintf("%s-%d", k.name, workers)
	return Workload{
		Name:  name,
		About: fmt.Sprintf("%s %s", count(workers, "worker"), k.about),
		Measure: func(ctx context.Context, t Trial) (Values, error) {
			plan := crew.Plan{Workers: workers, Keys: k.keys, Prefix: t.key(name), Warm: t.Warm, For: t.For}
			tally, err := Run(ctx, t.Cluster.Sites(), plan)
			if err == nil && tally.Pairs == 0 {
				plan.For *= slowFactor
				tally, err = Run(ctx, t.Cluster.Sites(), plan)
			}
			if err != nil {
				return nil, err
			}
			return valuesOf(tally, k.keys)
		},
	}
}

// Serial is the pairs of a single worker, as the workload own-1 has it.
func Serial(ctx context.Context, t Trial) (Values, error) {
	return pairs(ownKeys, 1).Measure(ctx, t)
}

// grouped is pairs of many workers on a number of groups.
func grouped(groups int) Workload {
	const workers = 256
	w := pairs(ownKeys, workers)
	w.Name = fmt.Sprintf("groups-%d", groups)
	w.About = fmt.Sprintf("%d workers on keys of their own, over %s", workers, count(groups, "group"))
	w.Groups = groups
	return w
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Run carries out a plan with workers at all sites at once. Fewer workers than
// sites work at each site in turn, so that it does not matter where the leaders
// are.
func Run(ctx context.Context, sites []peer.Site, plan crew.Plan) (crew.Tally, error) {
	if plan.Workers >= len(sites) {
		return together(ctx, sites, plan.Split(len(sites)))
	}
	plan.For /= time.Duration(len(sites))
	var sum crew.Tally
	for _, site := range sites {
		tally, err := together(ctx, []peer.Site{site}, []crew.Plan{plan})
		if err != nil {
			return crew.Tally{}, err
		}
		// The same workers as at the site before.
		turns := sum.Turns
		sum.Append(tally)
		if turns != nil {
			for i, n := range tally.Turns {
				turns[i] += n
			}
			sum.Turns = turns
		}
	}
	return sum, nil
}

// together runs a plan at each site, all at the same time.
func together(ctx context.Context, sites []peer.Site, plans []crew.Plan) (crew.Tally, error) {
	err := each(sites, func(i int, s peer.Site) error { return s.Ready(ctx, plans[i].Workers) })
	if err != nil {
		return crew.Tally{}, err
	}
	tallies := make([]crew.Tally, len(sites))
	err = each(sites, func(i int, s peer.Site) (err error) {
		tallies[i], err = s.Run(ctx, plans[i])
		return err
	})
	if err != nil {
		return crew.Tally{}, err
	}
	var sum crew.Tally
	for _, tally := range tallies {
		sum.Merge(tally)
	}
	return sum, nil
}

// each calls do for all sites at once and waits for all.
func each(sites []peer.Site, do func(int, peer.Site) error) error {
	errs := make(chan error, len(sites))
	for i, site := range sites {
		go func() { errs <- do(i, site) }()
	}
	var all []error
	for range sites {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// slowFactor is how much longer a peer is watched that ends no pair in the usual
// time.
const slowFactor = 5

// errNoPair fails a run in whose time nobody came to an end: there is nothing
// to compare.
var errNoPair = errors.New("no pair ended in the time that counts: give more with -for")

func valuesOf(t crew.Tally, keys crew.Keys) (Values, error) {
	if t.Pairs == 0 {
		return nil, errNoPair
	}
	v := Values{}
	v.set(PairsPerSecond, t.PerSecond())
	v.setTime(AcquireP50, t.Acquire.Quantile(0.5))
	v.setTime(AcquireP99, t.Acquire.Quantile(0.99))
	v.setTime(AcquireP999, t.Acquire.Quantile(0.999))
	v.setTime(ReleaseP50, t.Release.Quantile(0.5))
	v.setTime(ReleaseP99, t.Release.Quantile(0.99))
	v.setTime(ReleaseP999, t.Release.Quantile(0.999))
	if keys == crew.One {
		v.set(MostTurns, float64(slices.Max(t.Turns)))
		v.set(FewestTurns, float64(slices.Min(t.Turns)))
	}
	return v, nil
}
