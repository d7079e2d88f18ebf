package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/palisade-go/palisade/bench/crew"
	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
)

// fewLeases are held by each member for the number of renewals that many are
// compared with.
const fewLeases = 1000

// leases fills a cluster: the memory of a lease, renewals, and the start with
// that many.
func leases() Workload {
	const name = "leases"
	return Workload{
		Name:  name,
		About: "many leases held by three members",
		Alone: true,
		Measure: func(ctx context.Context, t Trial) (Values, error) {
			c, ok := t.Cluster.(peer.Loading)
			if !ok {
				return nil, &UnfitError{"its members can't be weighed"}
			}
			f := fill{cluster: c, each: max(t.Leases/peer.Members, 1), values: Values{}}
			if err := f.weigh(ctx); err != nil {
				return nil, err
			}
			if err := f.renewals(ctx, t.Idle); err != nil {
				return nil, err
			}
			if err := f.restart(ctx); err != nil {
				return nil, err
			}
			used, err := member.UsageOf(t.Cluster.Processes())
			if err != nil {
				return nil, err
			}
			f.values.setTime(StartUpCPU, used.CPU)
			return f.values, nil
		},
	}
}

// fill is a cluster that is filled with leases.
type fill struct {
	cluster peer.Loading
	each    int // how many leases each member takes
	values  Values
}

// weigh fills the members and notes what that weighs: the first member alone,
// so that what a replica has and what the holder has can be told apart, and
// then the others.
func (f *fill) weigh(ctx context.Context) error {
	empty, err := f.cluster.Weigh(ctx)
	if err != nil {
		return err
	}
	began := crew.Now()
	if err := f.take(ctx, 0); err != nil {
		return err
	}
	took := crew.Now().Sub(began)
	first, err := f.cluster.Weigh(ctx)
	if err != nil {
		return err
	}
	began = crew.Now()
	taken := make(chan error, peer.Members)
	for i := 1; i < peer.Members; i++ {
		go func() { taken <- f.take(ctx, i) }()
	}
	for i := 1; i < peer.Members; i++ {
		err = errors.Join(err, <-taken)
	}
	if err != nil {
		return err
	}
	took += crew.Now().Sub(began)
	full, err := f.cluster.Weigh(ctx)
	if err != nil {
		return err
	}
	all := f.each * peer.Members
	for i, w := range full {
		if w.Leases != all {
			return fmt.Errorf("member %d knows of %d leases, not %d", i+1, w.Leases, all)
		}
	}
	replica := (growth(empty[1], first[1]) + growth(empty[2], first[2])) / 2
	f.values.set(HeapReplica, replica/float64(f.each))
	f.values.set(HeapHolder, (growth(empty[0], first[0])-replica)/float64(f.each))
	total := 0.0
	for i := range full {
		total += growth(empty[i], full[i])
	}
	f.values.set(HeapPerLease, total/float64(all*peer.Members))
	f.values.set(FillPerSecond, float64(all)/took.Seconds())
	return nil
}

// take fills the member i.
func (f *fill) take(ctx context.Context, i int) error {
	return f.cluster.Fill(ctx, i, peer.Load{Prefix: fmt.Sprintf("leases/%d", i), Count: f.each, TTL: peer.TTL})
}

// growth is by how many bytes a member's heap has grown.
func growth(before, after peer.Weight) float64 { return float64(after.Heap) - float64(before.Heap) }

// renewals notes the log entries of the full cluster at rest.
func (f *fill) renewals(ctx context.Context, idle time.Duration) error {
	rate, err := entriesPerSecond(ctx, f.cluster, idle)
	f.values.set(Renewals, rate)
	return err
}

// restart kills all members and notes how long the slowest takes to be ready.
func (f *fill) restart(ctx context.Context) error {
	started, err := f.cluster.Restart(ctx)
	if err != nil {
		return err
	}
	slowest, opened, found := time.Duration(0), time.Duration(0), 0
	for _, s := range started {
		opened = max(opened, s.Opened)
		slowest = max(slowest, s.Took)
		found = max(found, s.Leases)
	}
	if found == 0 {
		return errors.New("no member found a lease at its start")
	}
	f.values.setTime(StartUp, slowest)
	f.values.setTime(StartUpOpen, opened)
	f.values.set(LeasesFound, float64(found))
	return nil
}

// entriesPerSecond watches how many log entries all members ask for while
// nobody asks them for anything.
func entriesPerSecond(ctx context.Context, c peer.Loading, idle time.Duration) (float64, error) {
	before, err := c.Weigh(ctx)
	if err != nil {
		return 0, err
	}
	began := crew.Now()
	if err := rest(ctx, idle); err != nil {
		return 0, err
	}
	after, err := c.Weigh(ctx)
	if err != nil {
		return 0, err
	}
	entries := uint64(0)
	for i := range after {
		entries += after[i].Batches - before[i].Batches
	}
	return float64(entries) / crew.Now().Sub(began).Seconds(), nil
}

// renewing is the log entries of a cluster at rest that holds few leases.
func renewing() Workload {
	const name = "renewing"
	return Workload{
		Name:  name,
		About: "1,000 leases held by each of three members",
		Alone: true,
		Measure: func(ctx context.Context, t Trial) (Values, error) {
			c, ok := t.Cluster.(peer.Loading)
			if !ok {
				return nil, &UnfitError{"its members can't be weighed"}
			}
			f := fill{cluster: c, each: fewLeases}
			for i := range peer.Members {
				if err := f.take(ctx, i); err != nil {
					return nil, err
				}
			}
			rate, err := entriesPerSecond(ctx, c, t.Idle)
			if err != nil {
				return nil, err
			}
			return Values{Renewals.Name: rate}, nil
		},
	}
}
