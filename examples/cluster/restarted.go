package main

import (
	"context"
	"errors"

	"github.com/palisade-go/palisade/coordinator"
)

// restartAll is how a new version of a program gets to all nodes: one after
// the other is told to stop, and the next one only after it has caught up
// again. Those who are not restarted at the moment keep their leases and their
// places in line.
func (s *story) restartAll(ctx context.Context) error {
	for _, waiter := range []struct{ id, other coordinator.NodeID }{{1, 2}, {2, 1}} {
		if err := s.cluster.stop(waiter.id); err != nil {
			return err
		}
		if err := s.cluster.ended(ctx, waiter.id); err != nil {
			return err
		}
		if err := s.startAgain(ctx, waiter.id); err != nil {
			return err
		}
		if err := s.line(ctx, waiter.id, 3, waiter.other); err != nil {
			return err
		}
		s.tell("Node %d was told to stop with SIGTERM. It left the line. Started again, it waits behind node %d.", waiter.id, waiter.other)
	}
	if err := s.stillOwns(ctx, 3); err != nil {
		return err
	}
	s.tell("Node 3 has owned %q all the while. It renewed its lease, and wrote with the same token.", documentKey)

	if err := s.cluster.stop(3); err != nil {
		return err
	}
	if _, err := s.node(3).expect(ctx, "released"); err != nil {
		return err
	}
	if err := s.cluster.ended(ctx, 3); err != nil {
		return err
	}
	if err := s.acquired(ctx, 1); err != nil {
		return err
	}
	s.tell("Node 3 was told to stop. It released the lock, which went to node 1.")

	if err := s.startAgain(ctx, 3); err != nil {
		return err
	}
	if err := s.stillOwns(ctx, 1); err != nil {
		return err
	}
	s.tell("Node 3 was started again and has caught up. Node 1 renewed its lease, and wrote.")
	return nil
}

// startAgain starts a node that had ended, and waits until it has caught up
// with the others.
func (s *story) startAgain(ctx context.Context, id coordinator.NodeID) error {
	if err := s.cluster.start(ctx, id, longTTL); err != nil {
		return err
	}
	_, err := s.node(id).expect(ctx, "ready")
	return err
}

// stillOwns checks that a node holds the lock with the token of the last
// grant, that the others confirm it, and that the document takes it.
func (s *story) stillOwns(ctx context.Context, id coordinator.NodeID) error {
	renewed, err := s.node(id).obey(ctx, "renew", "renewed")
	if err != nil {
		return err
	}
	if renewed != s.highest().String() {
		return errors.New("the lock was granted to somebody who did not say so")
	}
	return s.write(ctx, id)
}
