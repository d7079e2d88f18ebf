package main

import (
	"context"
	"time"

	"github.com/palisade-go/palisade/coordinator"
)

// killHolder is the death of a process: no deferred function runs, and nobody
// is told. The lock goes on when the holder's lease has expired, after at most
// twice its TTL and an election.
func (s *story) killHolder(ctx context.Context) error {
	ttls := map[coordinator.NodeID]time.Duration{1: shortTTL, 2: shortTTL, 3: longTTL}
	for _, id := range members {
		if err := s.cluster.start(ctx, id, ttls[id]); err != nil {
			return err
		}
	}
	for _, id := range members { // not before all have been started
		if _, err := s.node(id).expect(ctx, "ready"); err != nil {
			return err
		}
	}
	if err := s.node(1).order("acquire"); err != nil {
		return err
	}
	if err := s.acquired(ctx, 1); err != nil {
		return err
	}
	if err := s.write(ctx, 1); err != nil {
		return err
	}
	if err := s.line(ctx, 2, 1); err != nil {
		return err
	}
	if err := s.line(ctx, 3, 1, 2); err != nil {
		return err
	}
	s.tell("Node 1 owns %q and wrote the file. Node 2 waits in line, and node 3 behind it.", documentKey)

	if err := s.cluster.kill(s.node(1)); err != nil {
		return err
	}
	s.tell("Node 1 is killed with SIGKILL. It could tell nobody.")

	if err := s.acquired(ctx, 2); err != nil {
		return err
	}
	if err := s.write(ctx, 2); err != nil {
		return err
	}
	s.tell("When its lease had expired, node 2 got the lock, with a greater token, and wrote the file.")

	if err := s.startAgain(ctx, 1); err != nil {
		return err
	}
	if err := s.line(ctx, 1, 2, 3); err != nil {
		return err
	}
	s.tell("Node 1 was started again, from its directory, as incarnation 2. It waits in line behind node 3.")
	return nil
}
