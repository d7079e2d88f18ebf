package workload

import (
	"context"
	"errors"
	"fmt"

	"github.com/palisade-go/palisade/bench/peer"
)

// waiterLines is over how many keys the requests in line are spread.
const waiterLines = 100

// waiters puts many requests in line and weighs them.
func waiters() Workload {
	const name = "waiters"
	return Workload{
		Name:  name,
		About: fmt.Sprintf("many requests in line for %d keys, at three members", waiterLines),
		Alone: true,
		Measure: func(ctx context.Context, t Trial) (Values, error) {
			c, ok := t.Cluster.(peer.Loading)
			if !ok {
				return nil, &UnfitError{"its members can't be weighed"}
			}
			return weighWaiters(ctx, c, max(t.Waiters/peer.Members, 1))
		},
	}
}

func weighWaiters(ctx context.Context, c peer.Loading, each int) (v Values, err error) {
	load := peer.Load{Prefix: "waiters", Count: waiterLines, TTL: peer.TTL}
	if err := c.Fill(ctx, 0, load); err != nil {
		return nil, err
	}
	empty, err := c.Weigh(ctx)
	if err != nil {
		return nil, err
	}
	load.Count, load.Lines = each, waiterLines
	weights := make([][]peer.Weight, peer.Members) // with the waiters of one member, of two, of all
	defer func() {
		for i := range weights {
			err = errors.Join(err, c.Leave(ctx, i))
		}
	}()
	for i := range weights {
		if err := c.Queue(ctx, i, load); err != nil {
			return nil, err
		}
		if weights[i], err = c.Weigh(ctx); err != nil {
			return nil, err
		}
	}
	first, full := weights[0], weights[peer.Members-1]
	all := each * peer.Members
	total := 0.0
	for i, w := range full {
		if w.Waits != all {
			return nil, fmt.Errorf("member %d knows of %d requests in line, not %d", i+1, w.Waits, all)
		}
		total += growth(empty[i], w)
	}
	replica := (growth(empty[1], first[1]) + growth(empty[2], first[2])) / 2
	v = Values{}
	v.set(HeapPerWaiter, total/float64(all*peer.Members))
	v.set(HeapWaiterNode, (growth(empty[0], first[0])-replica)/float64(each))
	v.set(StacksWaiterNode, (float64(first[0].Stacks)-float64(empty[0].Stacks))/float64(each))
	return v, nil
}
