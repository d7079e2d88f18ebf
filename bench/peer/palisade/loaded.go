package palisade

import (
	"context"
	"errors"
	"time"

	"github.com/palisade-go/palisade/bench/member"
	"github.com/palisade-go/palisade/bench/peer"
)

// Fill implements peer.Loading.
func (c *Cluster) Fill(ctx context.Context, i int, l peer.Load) error {
	return c.nodes[i].Call(ctx, "Fill", l, &member.Nothing{})
}

// Queue implements peer.Loading.
func (c *Cluster) Queue(ctx context.Context, i int, l peer.Load) error {
	return c.nodes[i].Call(ctx, "Queue", l, &member.Nothing{})
}

// Leave implements peer.Loading.
func (c *Cluster) Leave(ctx context.Context, i int) error {
	return c.nodes[i].Call(ctx, "Leave", member.Nothing{}, &member.Nothing{})
}

// Weigh implements peer.Loading.
func (c *Cluster) Weigh(ctx context.Context) ([]peer.Weight, error) {
	weights := make([]peer.Weight, len(c.nodes))
	for i, p := range c.nodes {
		if err := p.Call(ctx, "Weigh", member.Nothing{}, &weights[i]); err != nil {
			return nil, err
		}
	}
	return weights, nil
}

// Restart implements peer.Loading. The nodes are killed: one that is closed
// gives its leases back first.
func (c *Cluster) Restart(ctx context.Context) ([]peer.Started, error) {
	for _, p := range c.nodes {
		if err := p.Kill(); err != nil {
			return nil, err
		}
	}
	started := make([]peer.Started, len(c.nodes))
	errs := make(chan error, len(c.nodes))
	began := time.Now()
	for i := range c.nodes {
		go func() {
			var seen Ready
			err := c.start(ctx, i)
			started[i].Opened = time.Since(began)
			if err == nil {
				err = c.waitReady(ctx, i, &seen)
			}
			started[i].Took, started[i].Leases = time.Since(began), seen.Leases
			errs <- err
		}()
	}
	var all []error
	for range c.nodes {
		all = append(all, <-errs)
	}
	return started, errors.Join(all...)
}
