package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// stopAll ends the work and the cluster. The last nodes have no quorum any
// more, so the locks are given up before.
func (s *story) stopAll(ctx context.Context) error {
	if _, err := s.node(1).obey(ctx, "release", "released"); err != nil {
		return err
	}
	if err := s.acquired(ctx, 2); err != nil {
		return err
	}
	if err := s.write(ctx, 2); err != nil {
		return err
	}
	if _, err := s.node(2).obey(ctx, "release", "released"); err != nil {
		return err
	}
	s.tell("Node 1 released the lock, node 2 got it, wrote the file and released it.")

	nodes := slices.Collect(maps.Values(s.cluster.running))
	if err := s.cluster.stop(members...); err != nil {
		return err
	}
	if err := s.cluster.ended(ctx, members...); err != nil {
		return err
	}
	for _, p := range nodes {
		if said := p.loss(); said != "" {
			return fmt.Errorf("node %d, which nobody harmed since it was started again, said: %s", p.id, said)
		}
	}
	s.tell("All nodes were told to stop. Since their restarts none has lost a lease or its place in line.")
	s.tell("%d grants, each with a greater token than the one before. %d stale write, refused.", len(s.grants), s.refused)
	s.tell("All processes have ended, with status 0 but for the one that was killed.")
	return nil
}
